-- Leaky queue: the backlog l, the time to the next free slot in units. Under a
-- changed rule the slots that were promised stay, even more than now may wait.
L.q = bucket({'l', 'g', 't', 'b', 'r'},
  function(v, g, most) return most - refit(v.l, v.g, g, HALF, 1) end,
  function(room, at, r, most) return 'l', fmt(most - room) end, true)
