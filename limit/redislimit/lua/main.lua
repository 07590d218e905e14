-- ARGV: now in microseconds or '' for the store's time; then for each of KEYS
-- the fragment's letter, cost, id and five numbers.
local now, n = clock(ARGV[1]), #KEYS
local parts, all, never = {}, true, false
for i = 1, n do
  local p = 8 * i - 6
  local cost, arg = tonumber(ARGV[p + 1]), {}
  for j = 1, 5 do arg[j] = tonumber(ARGV[p + 2 + j]) end
  local ok, retry, finish, bad = L[ARGV[p]](KEYS[i], now, cost, ARGV[p + 2], unpack(arg))
  all, never = all and ok, never or retry == -1
  parts[i] = {ok, retry, finish, bad, cost}
end
-- All have been read. One alone writes as its limiter does; several write
-- nothing when one of them can never pass.
local reply = {now}
for i = 1, n do
  local ok, retry, finish, bad, cost = unpack(parts[i])
  local mode = 'refresh'
  if cost <= 0 or never and n > 1 then
    mode = 'look'
  elseif all then
    mode = 'charge'
  end
  local remaining, reset, delay = finish(mode)
  for _, x in ipairs({ok and 1 or 0, retry, remaining, reset, delay, bad or 0}) do
    reply[#reply + 1] = x
  end
end
return reply
