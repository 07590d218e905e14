-- GCRA: the theoretical arrival time, a and f/r microseconds. It is ahead of
-- the last instant t by what is owed, which at r units a microsecond is
-- (a - t) * r + f units; the burst less that may still pass.
L.g = bucket('a', 'f',
  function(from, t, b, r, a, f, g, most)
    local top, ahead = b * from, a - t
    if top > MAX or ahead < 0 or f >= r or ahead * r + f > top then return nil end
    return refit(top - ahead * r - f, from, g, most, 0)
  end,
  function(room, at, r, most)
    local owed = most - room
    local ahead = floor(owed / r)
    return at + ahead, owed - ahead * r
  end)
