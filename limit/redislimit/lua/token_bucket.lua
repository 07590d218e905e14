-- Token bucket: n units held.
L.t = bucket({'n', 'g', 't', 'b', 'r'},
  function(v, g, most) return refit(v.n, v.g, g, most, 0) end,
  function(room) return 'n', fmt(room) end)
