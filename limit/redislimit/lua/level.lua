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

-- fields reads a hash of whole numbers: a table of them, nil when there is no
-- such key, or false when any cannot be read. g and r must be above zero.
local function fields(key, names)
  local got = redis.call('HMGET', key, unpack(names))
  local v, seen, good = {}, false, true
  for i, name in ipairs(names) do
    v[name] = whole(got[i])
    seen = seen or got[i] ~= false
    good = good and v[name] ~= nil
  end
  if not seen and redis.call('EXISTS', key) == 0 then return nil end
  return good and v.g > 0 and v.r > 0 and v
end

-- bucket makes a fragment. names are its fields, g, t, b and r among them.
-- read(v, g, most) is the room that the fields tell, as of v.t, or nil when
-- they cannot be right; write(room, at, r, most) are the fields' values, as
-- name, value, ..., without g, t, b and r. queue is true when a call that
-- passes is held until its turn.
local function bucket(names, read, write, queue)
  return function(key, now, cost, id, r, g, most, b, follow)
    local full = ceil(most / r)
    local room, at, bad = most, now, 0
    local v = fields(key, names)
    if v then
      -- A finer state stays as fine, so that rules in turn lose nothing of it.
      local finer = v.g / g
      if v.g % g == 0 and v.g <= FINEST and max(most, r) * finer <= HALF then
        g, r, most = v.g, r * finer, most * finer
      end
      room = read(v, g, most)
    elseif v == false then
      room = nil
    end
    if not room then
      room, bad = 0, 1
    elseif v then
      local gone = now - v.t
      if gone > 0 then
        room = gone >= ceil((most - room) / r) and most or room + gone * r
      elseif follow ~= 1 and -gone <= max(full, HELD) then
        at = v.t
      end
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
        if bad == 1 then redis.call('DEL', key) end
        redis.call('HSET', key, 'g', fmt(g), 't', fmt(at), 'b', fmt(b), 'r', fmt(r), write(left, at, r, most))
        expire(key, max(reset, lag + full))
      end
      return max(0, floor(left / g)), reset, delay
    end
    return retry == 0, retry, finish, bad
  end
end
