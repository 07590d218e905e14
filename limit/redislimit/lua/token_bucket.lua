-- Token bucket: n units held.
L.t = bucket('n', nil,
  function(from, t, b, r, n, _, g, most) return refit(n, from, g, most, 0) end,
  function(room) return room end)
