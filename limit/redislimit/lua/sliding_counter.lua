-- Sliding window counter: a is the limit, b the window in µs, c 1 when a wait
-- ends with the window at the latest.
-- State: hash {p: units of the window before, n: of this one, t: the highest
-- time, which says which one this is, w: the window, l: the limit}.
do
  -- n*part/of rounded down and what is left over, exactly, for part <= of and
  -- both below 2^51: as one product where a double holds it, else digit by
  -- digit of n, at most 53 of them.
  local function share(n, part, of)
    local x = n * part
    if x < 2 ^ 53 then
      local r = math.fmod(x, of)
      return (x - r) / of, r
    end
    local base, digit, places = floor(2 ^ 52 / of), {}, 0
    while n > 0 do
      places = places + 1
      digit[places] = math.fmod(n, base)
      n = (n - digit[places]) / base
    end
    local q, r = 0, 0
    for i = places, 1, -1 do
      x = r * base + digit[i] * part
      r = math.fmod(x, of)
      q = q * base + (x - r) / of
    end
    return q, r
  end

  -- What the window before still weighs, rounded up, e into a window of w.
  local function weight(prev, e, w)
    local q, r = share(prev, w - e, w)
    if r > 0 then
      q = q + 1
    end
    return q
  end

  -- The counts of time t as of at, and how far at is into its window.
  local function roll(prev, cur, t, at, w)
    local e = into(t, w) + at - t
    if e < w then
      return prev, cur, e
    elseif e - w < w then
      return cur, 0, e - w
    end
    return 0, 0, into(at, w)
  end

  L.s = function(key, now, cost, id, a, b, c)
    local prev, cur, at, e, unreadable = 0, 0, now, into(now, b), 0
    local v = redis.call('HMGET', key, 'p', 'n', 't', 'w')
    if v[1] or v[2] or v[3] or v[4] or redis.call('EXISTS', key) == 1 then
      local p, n, t, w = whole(v[1]), whole(v[2]), whole(v[3]), whole(v[4])
      if not (p and n and t and w) or p > 2 ^ 50 or n > 2 ^ 50 or w == 0 or w > 2 ^ 51 then
        cur, unreadable = a, 1
      else
        local back = t - now > max(b, HELD)
        if back then
          prev, cur, e = roll(p, n, t, t, w)
        else
          at = max(now, t)
          prev, cur, e = roll(p, n, t, at, w)
        end
        if back or w ~= b then
          -- What weighs now counts as taken in the window that now is in.
          prev, cur, e = 0, cur + weight(prev, e, w), into(at, b)
        end
      end
    end
    local old = weight(prev, e, b)
    local ask, retry = max(cost, 1), 0
    local room = a - ask
    if room < 0 or cost < 0 then
      retry = -1
    elseif cur + old > room then
      if room >= cur then
        retry = b - share(b, room - cur, prev) - e
      elseif c == 1 then
        retry = b - e
      else
        retry = b - e + b - share(b, room, cur)
      end
      retry = retry + at - now
    end
    return retry == 0, retry, function(mode)
      if mode == 'charge' then
        cur = cur + cost
      end
      if mode ~= 'look' then
        redis.call('HSET', key, 'p', fmt(prev), 'n', fmt(cur), 't', fmt(at), 'w', fmt(b), 'l', fmt(a))
        expire(key, at - now + b - e + b)
      end
      local reset = at - now
      if cur > 0 then
        reset = reset + b - e + b
      elseif prev > 0 then
        reset = reset + b - e
      end
      return max(0, a - cur - old), reset, 0
    end, unreadable
  end
end
