-- Leaky meter: the level l of what has passed and not yet drained. Under a
-- changed rule what may still pass stays, as in a token bucket.
L.m = bucket('l', nil,
  function(from, t, b, r, l, _, g, most)
    local top = b * from
    if top > MAX or l > top then return nil end
    return refit(top - l, from, g, most, 0)
  end,
  function(room, at, r, most) return most - room end)
