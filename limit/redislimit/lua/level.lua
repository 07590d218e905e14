-- What the bucket algorithms have in common: room, the units that may still
-- pass as of an instant. It grows by r units a microsecond up to most, which
-- is b tokens of g units each. They differ in what they keep of it.

-- HALF of MAX leaves room for a sum; FINEST is the finest part of a token that
-- converts with an error below one.
local HALF, FINEST = 4503599627370496, 1125899906842624

-- refit turns n units of 1/from token into units of 1/to, at most cap, rounded
-- down, or up with up = 1; when the numbers are too large for that to be exact,
-- by one more at most.
local function refit(n, from, to, cap, up)
  if from == to then return min(n, cap) end
  local tokens = floor(n / from)
  local rest, part = n - tokens * from, 0
  if tokens * to >= cap then return cap end
  if to % from == 0 then
    part = rest * (to / from)
  elseif from % to == 0 then
    part = rest / (from / to)
  elseif rest * to <= MAX then
    part = rest * to / from
  else
    -- Off by less than a quarter while to is at most FINEST.
    part = max(0, rest / from * to + (up == 1 and 0.25 or -0.25))
  end
  part = up == 1 and ceil(part) or floor(part)
  return min(cap, tokens * to + part)
end

-- fields reads a hash of whole numbers, g, t, b, r, x and y if there is one: a
-- list of them, nil when there is no such key, or false when any cannot be
-- read. g and r must be above zero.
local function fields(key, x, y)
  local v, n, seen, good = nil, 5, false, true
  if y then
    v, n = redis.call('HMGET', key, 'g', 't', 'b', 'r', x, y), 6
  else
    v = redis.call('HMGET', key, 'g', 't', 'b', 'r', x)
  end
  for i = 1, n do
    seen = seen or v[i]
    v[i] = whole(v[i])
    good = good and v[i]
  end
  if not seen and redis.call('EXISTS', key) == 0 then return nil end
  if not good or v[1] == 0 or v[4] == 0 then return false end
  return v
end

-- bucket makes a fragment that keeps g, t (the time), b, r, and x and y, whose
-- meaning is its own. read(from, t, b, r, x, y, g, most) is the room that they
-- tell in units of 1/g as of t, at most most, or nil when they cannot be right;
-- from is the g that they were written in. write(room, at, r, most) is x and y.
-- queue is true when a call that passes is held until its turn.
local function bucket(x, y, read, write, queue)
  return function(key, now, cost, id, r, g, most, b, follow)
    local full, room, at, bad, same = ceil(most / r), most, now, 0, false
    local v = fields(key, x, y)
    if v then
      local from, t = v[1], v[2]
      -- A finer state stays as fine, so that rules in turn lose nothing of it.
      local finer = from / g
      if finer > 1 and from % g == 0 and from <= FINEST and max(most, r) * finer <= HALF then
        g, r, most = from, r * finer, most * finer
      end
      same = from == g and v[3] == b and v[4] == r
      room = read(from, t, v[3], v[4], v[5], v[6], g, most)
      if room and now > t then
        local gone = now - t
        room = gone >= ceil((most - room) / r) and most or room + gone * r
      elseif room and follow ~= 1 and t - now <= max(full, HELD) then
        at = t
      end
    end
    if v == false or not room then
      room, bad, same = 0, 1, false
    end
    local lag, ask, retry = at - now, max(cost, 1), 0
    if cost < 0 or ask > b then
      retry = -1
    elseif ask * g > room then
      retry = lag + ceil((ask * g - room) / r)
    end
    local function finish(mode)
      local left, delay = room, 0
      if mode == 'charge' then
        left = room - cost * g
      elseif mode == 'give' then
        left = cost >= b and most or min(most, room + cost * g)
      end
      local reset = lag + ceil((most - left) / r)
      if queue and retry == 0 then
        delay = ceil((most - room + (ask - 1) * g) / r)
      end
      if mode ~= 'look' then
        if bad == 1 then redis.call('UNLINK', key) end
        if not same then redis.call('HSET', key, 'g', fmt(g), 'b', fmt(b), 'r', fmt(r)) end
        local p, q = write(left, at, r, most)
        if y then
          redis.call('HSET', key, 't', fmt(at), x, fmt(p), y, fmt(q))
        else
          redis.call('HSET', key, 't', fmt(at), x, fmt(p))
        end
        expire(key, max(reset, lag + full))
      end
      return max(0, floor(left / g)), reset, delay
    end
    return retry == 0, retry, finish, bad
  end
end
