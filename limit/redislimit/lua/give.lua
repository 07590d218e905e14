-- ARGV: as for one part of a check, whose cost goes back. The reply is now,
-- what there is after it, unreadable.
local now, arg = clock(ARGV[1]), {}
for j = 1, 5 do arg[j] = tonumber(ARGV[4 + j]) end
local _, _, finish, bad = L[ARGV[2]](KEYS[1], now, tonumber(ARGV[3]), ARGV[4], unpack(arg))
local left = finish('give')
return {now, left, bad}
