-- Leaky queue: the backlog l, the time to the next free slot in units. Under a
-- changed rule the slots that were promised stay, even more than now may wait.
L.q = bucket('l', nil,
  function(from, t, b, r, l, _, g, most) return most - refit(l, from, g, HALF, 1) end,
  function(room, at, r, most) return most - room end, true)
