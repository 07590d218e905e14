-- Fixed window: a is the limit, b the window in µs.
-- State: hash {n: units, e: end of the window, w: its length, l: the limit}.
L.f = function(key, now, cost, id, a, b)
  local count, stop, unreadable = 0, now - into(now, b) + b, 0
  local v = redis.call('HMGET', key, 'n', 'e', 'w')
  if v[1] or v[2] or v[3] or redis.call('EXISTS', key) == 1 then
    local n, e, w = whole(v[1]), whole(v[2]), whole(v[3])
    if not (n and e and w) or w > e then
      count, unreadable = a, 1
    elseif now < e then
      count = n
      local back = now < e - w - max(b, HELD)
      if w == b and not back then
        stop = e -- a clock that steps back into an earlier window stays in this one
      elseif not back then
        local at = max(now, e - w) -- another window, the same count
        stop = at - into(at, b) + b
      end
    end
  end
  local ask, retry = max(cost, 1), 0
  if ask > a or cost < 0 then
    retry = -1
  elseif ask > a - count then
    retry = stop - now
  end
  return retry == 0, retry, function(mode)
    if mode == 'charge' then
      count = count + cost
    end
    if mode ~= 'look' then
      redis.call('HSET', key, 'n', fmt(count), 'e', fmt(stop), 'w', fmt(b), 'l', fmt(a))
      expire(key, stop - now)
    end
    local reset = 0
    if count > 0 then
      reset = stop - now
    end
    return max(0, a - count), reset, 0
  end, unreadable
end
