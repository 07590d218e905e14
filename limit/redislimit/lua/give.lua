-- ARGV: as for one part of a check, whose cost goes back. The reply is now,
-- what there is after it, unreadable.
local now, arg = clock(ARGV[1]), {}
for j = 1, 5 do arg[j] = tonumber(ARGV[4 + j]) end
-- The tokens may be of a rule that is no more. The bucket stays under the one
-- that it is under: it neither fills at another rate nor lives shorter.
local v = redis.call('HMGET', KEYS[1], 'g', 'b', 'r')
local g, b, r = whole(v[1]), whole(v[2]), whole(v[3])
if g and b and r and g > 0 and r > 0 and g * b <= HALF then
  arg[1], arg[2], arg[3], arg[4] = r, g, g * b, b
end
local _, _, finish, bad = L[ARGV[2]](KEYS[1], now, tonumber(ARGV[3]), ARGV[4], unpack(arg))
local left = finish('give')
return {now, left, bad}
