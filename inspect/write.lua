-- Writes to KEYS if all of them are as ARGV says they were: 1, or 0 with
-- nothing written. ARGV has for each key its type and TTL, how long its value
-- is, the parts of the value that were read, and then what to do.
local at = 0
local function word()
  at = at + 1
  return ARGV[at]
end
local function number()
  return tonumber(word())
end

-- same compares a part of a list or of a sorted set, whose items come with
-- their scores: from where, and what is there.
local function same(key, command, scored)
  local from, n = number(), number()
  local have
  if n > 0 and scored then
    have = redis.call(command, key, from, from + n - 1, 'WITHSCORES')
  elseif n > 0 then
    have = redis.call(command, key, from, from + n - 1)
  end
  local good, each = true, scored and 2 or 1
  if n > 0 and #have ~= n * each then good = false end
  for i = 1, n do
    local name, score = word(), scored and number()
    if good and have[(i - 1) * each + 1] ~= name then good = false end
    if good and scored and tonumber(have[i * 2]) ~= score then good = false end
  end
  return good
end

local function unchanged(key)
  local kind, life, length = word(), number(), number()
  local is = redis.call('TYPE', key)
  if type(is) == 'table' then is = is.ok end
  local good = is == kind
  if good and kind ~= 'none' then
    local left = redis.call('PTTL', key)
    good = left ~= 0 and (left < 0) == (life < 0) and left <= life
  end
  if kind == 'string' then
    local text = word()
    return good and redis.call('STRLEN', key) == length and redis.call('GETRANGE', key, 0, #text - 1) == text
  elseif kind == 'hash' then
    good = good and redis.call('HLEN', key) == length
    for _ = 1, number() do
      local name, value = word(), word()
      good = good and redis.call('HGET', key, name) == value
    end
  elseif kind == 'zset' or kind == 'list' then
    local scored = kind == 'zset'
    good = good and redis.call(scored and 'ZCARD' or 'LLEN', key) == length
    for _ = 1, 2 do
      if not good then return false end
      good = same(key, scored and 'ZRANGE' or 'LRANGE', scored)
    end
  end
  return good
end

local todo = {}
for _, key in ipairs(KEYS) do
  if not unchanged(key) then return 0 end
  for _ = 1, number() do
    local command = { word(), key }
    for _ = 1, number() do
      command[#command + 1] = word()
    end
    todo[#todo + 1] = command
  end
end
for _, command in ipairs(todo) do
  if command[1] == 'SET' then
    -- A key keeps its life.
    local left = redis.call('PTTL', command[2])
    if left > 0 then
      command[4], command[5] = 'PX', left
    end
  end
  redis.call(unpack(command))
end
return 1
