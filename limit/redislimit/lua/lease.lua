-- ARGV: as for one part of a check, whose cost is the block; then the least
-- to take when there is no whole block. The reply is now, what was taken, the
-- wait until the least is there, what is left, unreadable.
local now, block, least = clock(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[10])
local arg = {}
for j = 1, 5 do arg[j] = tonumber(ARGV[4 + j]) end
local function ask(cost)
  return L[ARGV[2]](KEYS[1], now, cost, ARGV[4], unpack(arg))
end
local ok, retry, finish, bad = ask(block)
if not ok and least < block then
  local there = finish('look')
  block = max(least, there)
  ok, retry, finish, bad = ask(block)
end
local left = finish(ok and 'charge' or retry == -1 and 'look' or 'refresh')
return {now, ok and block or 0, retry, left, bad or 0}
