-- Leaky meter: the level l of what has passed and not yet drained. Under a
-- changed rule what may still pass stays, as in a token bucket.
L.m = bucket({'l', 'g', 't', 'b', 'r'},
  function(v, g, most)
    local top = v.b * v.g
    if top > MAX or v.l > top then return nil end
    return refit(top - v.l, v.g, g, most, 0)
  end,
  function(room, at, r, most) return 'l', fmt(most - room) end)
