-- GCRA: the theoretical arrival time, a and f/r microseconds. It is ahead of
-- the last instant t by what is owed, which at r units a microsecond is
-- (a - t) * r + f units; the burst less that may still pass.
L.g = bucket({'a', 'f', 'g', 't', 'b', 'r'},
  function(v, g, most)
    local top, ahead = v.b * v.g, v.a - v.t
    if top > MAX or ahead < 0 or v.f >= v.r or ahead * v.r + v.f > top then return nil end
    return refit(top - ahead * v.r - v.f, v.g, g, most, 0)
  end,
  function(room, at, r, most)
    local owed = most - room
    local ahead = floor(owed / r)
    return 'a', fmt(at + ahead), 'f', fmt(owed - ahead * r)
  end)
