-- ARGV: now in microseconds or '' for the store's time; then for each of KEYS
-- the fragment's letter, cost, id and five numbers.
local now, n = clock(ARGV[1]), #KEYS
local parts, all, never = {}, true, false
for i = 1, n do
  local p = 8 * i - 6
  local cost = tonumber(ARGV[p + 1])
  local ok, retry, finish, bad = L[ARGV[p]](KEYS[i], now, cost, ARGV[p + 2], tonumber(ARGV[p + 3]),
    tonumber(ARGV[p + 4]), tonumber(ARGV[p + 5]), tonumber(ARGV[p + 6]), tonumber(ARGV[p + 7]))
  all, never = all and ok, never or retry == -1
  parts[i] = {ok, retry, finish, bad, cost}
end
-- All have been read. One alone writes as its limiter does; several write
-- nothing when one of them can never pass.
local reply = {now}
for i = 1, n do
  local ok, retry, finish, bad, cost = unpack(parts[i], 1, 5)
  local mode = 'refresh'
  if cost <= 0 or never and n > 1 then
    mode = 'look'
  elseif all then
    mode = 'charge'
  end
  local p = 6 * i - 4
  reply[p], reply[p + 1], reply[p + 5] = ok and 1 or 0, retry, bad or 0
  reply[p + 2], reply[p + 3], reply[p + 4] = finish(mode)
end
return reply
