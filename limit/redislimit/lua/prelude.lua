-- Numbers are doubles: all are whole, and below 2^53 they have no gaps.
-- Time is in microseconds.
local MAX = 9007199254740991
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local format, find = string.format, string.find
local L = {}

-- fmt is how every number is written.
local function fmt(n)
  return format('%.0f', n)
end

-- whole reads decimal digits up to MAX, and is nil for anything else.
local function whole(s)
  if s and #s <= 16 and find(s, '^%d+$') then
    local n = tonumber(s)
    if n <= MAX then return n end
  end
end

-- expire sets the life of a key that was written: us and a second, at most
-- ten years.
local function expire(key, us)
  redis.call('PEXPIRE', key, fmt(min(ceil(us / 1000) + 1000, 315360000000)))
end

-- clock reads the time of a call: the given one, or the store's.
local function clock(given)
  local now = tonumber(given)
  if not now then
    local t = redis.call('TIME')
    now = tonumber(t[1]) * 1000000 + tonumber(t[2])
  end
  return now
end

-- HELD is how long a clock that has stepped back may hold a key up, unless the
-- key's own time is longer.
local HELD = 3600000000
