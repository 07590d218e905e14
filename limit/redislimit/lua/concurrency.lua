-- Concurrency: a is the limit, b the longest hold in µs, after which a holder
-- counts as crashed.
-- State: sorted set with a member h:ID for each holder, its score the time it
-- began; below zero, and so before all holders, ch:ID with -units of a holder
-- of more than one, extra with the sum of (units - 1) over those, limit with
-- -A and hold with -B. Holders are counted, not summed up. At most STEP of
-- them are let go in one check.
local units
do
  local STEP = 128

  -- What a holder has.
  function units(key, holder)
    return max(1, -(score(redis.call('ZSCORE', key, 'c' .. holder)) or -1))
  end

  L.c = function(key, now, cost, id, a, b)
    local held, unreadable = redis.call('ZCOUNT', key, 0, '+inf'), 0
    local extra = redis.call('ZSCORE', key, 'extra')
    local gone, ahead = {}, {}
    if extra then
      extra = -(score(extra) or 1)
      if extra < 0 or extra > 2 ^ 51 then
        held, extra, unreadable = a, 0, 1
      end
    end
    local stored = extra or 0
    extra = stored
    if held > 0 and unreadable == 0 then
      gone = redis.call('ZRANGEBYSCORE', key, 0, fmt(now - b), 'LIMIT', 0, STEP)
      ahead = redis.call('ZRANGEBYSCORE', key, '(' .. fmt(now + max(b, HELD)), '+inf', 'LIMIT', 0, STEP)
      held = held - #gone
      for _, holder in ipairs(gone) do
        if extra > 0 then
          extra = max(0, extra - units(key, holder) + 1)
        end
      end
    end
    if held == 0 then
      extra = 0 -- whatever it says, nobody has it
    end
    local count = held + extra
    local ask, retry = max(cost, 1), 0
    if ask > a or cost < 0 then
      retry = -1
    elseif ask > a - count then
      retry = -2
    end
    return retry == 0, retry, function(mode)
      if mode ~= 'look' then
        if unreadable == 1 then
          redis.call('UNLINK', key)
          redis.call('ZADD', key, fmt(now), 'h?', fmt(-a), 'ch?')
          held, extra = 1, a - 1
        end
        for _, holder in ipairs(gone) do
          redis.call('ZREM', key, holder, 'c' .. holder)
        end
        for _, holder in ipairs(ahead) do
          redis.call('ZADD', key, fmt(now), holder)
        end
        if mode == 'charge' then
          local holder, mine = 'h:' .. id, cost
          if redis.call('ZSCORE', key, holder) then
            local before = units(key, holder)
            mine = before + cost
            extra = extra - before + 1
          end
          redis.call('ZADD', key, fmt(now), holder, fmt(-a), 'limit', fmt(-b), 'hold')
          if mine > 1 then
            redis.call('ZADD', key, fmt(-mine), 'ch:' .. id)
            extra = extra + mine - 1
          end
          count = count + cost
        end
        if extra > 0 then
          redis.call('ZADD', key, fmt(-extra), 'extra')
        elseif stored > 0 then
          redis.call('ZREM', key, 'extra')
        end
        if mode == 'charge' or unreadable == 1 then
          expire(key, b)
        end
      end
      local reset = 0
      if count > 0 then
        reset = -2
      end
      return max(0, a - count), reset, 0
    end, unreadable
  end
end
