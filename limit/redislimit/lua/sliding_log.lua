-- Sliding log: a is the limit, b the window in µs.
-- State: sorted set with a member SUM:COST for each admission, its time the
-- score, SUM the units of all admissions up to and with it, in 16 digits so
-- that those of one time are in order; and last a mark, limit=A window=B, its
-- score the highest time seen. The sums give the units of any stretch from its
-- two ends, so no check reads the entries between them: it looks at the newest
-- and at the oldest in the window, and finds a wait by halving. What has left
-- the window goes some at a time.
do
  local STEP = 16 -- entries that a check removes

  -- SUM and COST of a member. A SUM of fewer digits is none: it would stand
  -- after those of its time that are written from now on.
  local function entry(member)
    local digits, cost = string.match(member or '', '^(%d+):(%d+)$')
    local sum = whole(digits)
    cost = whole(cost)
    if sum and #digits == 16 and cost and cost >= 1 and cost <= sum then
      return sum, cost
    end
  end

  -- The log as of at: the newest sum, the units in the window, the time of the
  -- newest entry and the member of the oldest in the window; nothing when it
  -- cannot be read.
  local function units(key, top, edge)
    if #top == 2 then
      return 0, 0
    end
    local sum, _ = entry(top[3])
    local last = score(top[4])
    if not sum or not last then
      return
    elseif last <= edge then
      return sum, 0, last
    end
    local first = redis.call('ZRANGEBYSCORE', key, '(' .. fmt(edge), '+inf', 'LIMIT', 0, 1)[1]
    local upto, cost = entry(first)
    if not upto or upto > sum then
      return
    end
    return sum, sum - upto + cost, last, first
  end

  -- The time of the entry with which the sums reach want, which the newest one
  -- does; nothing when what is there is not in order.
  local function reach(key, first, want)
    local sum = entry(first)
    local low = redis.call('ZRANK', key, first)
    if sum >= want then
      return score(redis.call('ZSCORE', key, first))
    end
    local high = redis.call('ZCARD', key) - 2
    -- The entry is above low and at most high.
    while high - low > 1 do
      local middle = floor((low + high) / 2)
      sum = entry(redis.call('ZRANGE', key, middle, middle)[1])
      if not sum then
        return
      elseif sum >= want then
        high = middle
      else
        low = middle
      end
    end
    return score(redis.call('ZRANGE', key, high, high, 'WITHSCORES')[2])
  end

  L.l = function(key, now, cost, id, a, b)
    local mark = 'limit=' .. fmt(a) .. ' window=' .. fmt(b)
    local top = redis.call('ZREVRANGE', key, 0, 1, 'WITHSCORES')
    local at, sum, count, last, first, unreadable = now, 0, 0, nil, nil, 0
    local fold = false -- the log is written anew, with one entry for its units
    if #top > 0 then
      local seen = string.find(top[1], '^limit=%d+ window=%d+$') and score(top[2])
      if seen then
        fold = seen - now > max(b, HELD)
        local upto = max(now, seen)
        if not fold then
          at = upto
        end
        sum, count, last, first = units(key, top, upto - b)
      end
      if not seen or not sum then
        sum, count, fold, unreadable = 0, a, true, 1
      end
      fold = fold or last and count == 0 -- all of it is over
    end
    local ask, retry = max(cost, 1), 0
    if ask > a or cost < 0 then
      retry = -1
    elseif ask > a - count then
      local free = at
      if not fold then
        free = reach(key, first, sum - count + ask - (a - count)) or at
      end
      retry = free + b - now
    end
    return retry == 0, retry, function(mode)
      local charge = mode == 'charge'
      if mode ~= 'look' then
        if fold or charge and sum + cost >= 2 ^ 52 then
          redis.call('UNLINK', key)
          sum = count
          if count > 0 then
            redis.call('ZADD', key, fmt(at), string.format('%016.0f:%.0f', count, count))
          end
          fold = true
        elseif #top > 0 then
          local old = redis.call('ZCOUNT', key, '-inf', fmt(at - b))
          if old > 0 then
            redis.call('ZREMRANGEBYRANK', key, 0, min(old, STEP) - 1)
          end
          if top[1] ~= mark then
            redis.call('ZREM', key, top[1])
          end
        end
        if charge then
          sum, count, last = sum + cost, count + cost, at
          redis.call('ZADD', key, fmt(at), mark, fmt(at), string.format('%016.0f:%.0f', sum, cost))
        else
          redis.call('ZADD', key, fmt(at), mark)
        end
        expire(key, at + b - now)
      end
      local reset = at - now
      if count > 0 then
        reset = b - now + ((fold and at) or last)
      end
      return max(0, a - count), reset, 0
    end, unreadable
  end
end
