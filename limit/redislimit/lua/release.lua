-- Gives back what a holder of a concurrency limit has. ARGV: its id, units at
-- most, and the longest hold in µs. The reply is how many came free: none when
-- it holds nothing, because it has given back before or was let go.
local key, holder, cost = KEYS[1], 'h:' .. ARGV[1], tonumber(ARGV[2])
if cost <= 0 or not redis.call('ZSCORE', key, holder) then
  return 0
end
local held = units(key, holder)
local left = max(0, held - cost)
local extra = -(score(redis.call('ZSCORE', key, 'extra')) or 0)
extra = max(0, extra - (held - max(1, left)))
if left == 0 then
  redis.call('ZREM', key, holder, 'c' .. holder)
elseif left == 1 then
  redis.call('ZREM', key, 'c' .. holder)
else
  redis.call('ZADD', key, fmt(-left), 'c' .. holder)
end
if redis.call('ZCOUNT', key, 0, '+inf') == 0 then
  redis.call('DEL', key)
else
  if extra > 0 then
    redis.call('ZADD', key, fmt(-extra), 'extra')
  else
    redis.call('ZREM', key, 'extra')
  end
  expire(key, tonumber(ARGV[3]))
end
return held - left
