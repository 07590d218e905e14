// Each library is a function of a connection and the settings that gives a
// function of a key and a cost, which calls the library once. Only the one that
// is asked for is loaded.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

// one refuses costs that a library has no way to say.
function one(cost) {
  if (cost !== 1) throw new Error(`a cost of ${cost}, and it takes one at a time`);
}

// onTime loads a package whose clock stands on when it was loaded: again, until
// it was not held up in between and is at most 1.5 ms behind.
function onTime(name, clock, microseconds) {
  for (;;) {
    for (const path of Object.keys(require.cache)) {
      if (path.includes(`/node_modules/${name}/`)) delete require.cache[path];
    }
    const { now } = require(clock);
    const loaded = require(name);
    const before = Date.now();
    while (Date.now() === before);
    if (Date.now() - now() / (microseconds ? 1000 : 1) < 1.5) return loaded;
  }
}

// kept gives what make makes of a key, once for each.
function kept(make) {
  const all = new Map();
  return (key) => {
    if (!all.has(key)) all.set(key, make(key));
    return all.get(key);
  };
}

async function rateLimitRedis(redis, { limit, window_ms }) {
  const { RedisStore } = require("rate-limit-redis");
  const store = new RedisStore({ sendCommand: (command, ...args) => redis.call(command, ...args) });
  await store.init({ windowMs: window_ms });
  return async (key, cost) => {
    one(cost);
    const { totalHits, resetTime } = await store.increment(key);
    const allowed = totalHits <= limit;
    return { allowed, remaining: Math.max(0, limit - totalHits), wait_ms: allowed ? undefined : resetTime - Date.now() };
  };
}

function rateLimiterFlexible(redis, { limit, window_ms, block_ms }) {
  const { RateLimiterRedis } = require("rate-limiter-flexible");
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    points: limit,
    duration: window_ms / 1000,
    blockDuration: (block_ms ?? 0) / 1000,
  });
  return async (key, cost) => {
    try {
      const { remainingPoints } = await limiter.consume(key, cost);
      return { allowed: true, remaining: remainingPoints };
    } catch (refusal) {
      if (refusal instanceof Error) throw refusal;
      return { allowed: false, remaining: refusal.remainingPoints, wait_ms: refusal.msBeforeNext };
    }
  };
}

// overRedis is the part of Upstash's own client that its limiter uses, on a
// plain connection.
function overRedis(redis) {
  return {
    evalsha: (hash, keys, args) => redis.evalsha(hash, keys.length, ...keys, ...args),
    eval: (script, keys, args) => redis.eval(script, keys.length, ...keys, ...args),
    hset: (key, fields) => redis.hset(key, fields),
  };
}

function upstash(redis, limiterOf, regions) {
  const { MultiRegionRatelimit, Ratelimit } = require("@upstash/ratelimit");
  const Class = regions ? MultiRegionRatelimit : Ratelimit;
  const over = overRedis(redis);
  const limits = new Class({ redis: regions ? [over] : over, limiter: limiterOf(Class), ephemeralCache: false, timeout: 0 });
  limits.ctx.cache = undefined; // which one of several regions has in any case
  return async (key, cost) => {
    const { success, remaining, reset, pending } = await limits.limit(key, { rate: cost });
    await pending;
    return { allowed: success, remaining: Math.max(0, remaining), wait_ms: success ? undefined : reset - Date.now() };
  };
}

function nest(redis, { limit, window_ms, block_ms }) {
  const { ThrottlerStorageRedisService } = require("@nest-lab/throttler-storage-redis");
  const storage = new ThrottlerStorageRedisService(redis);
  return async (key, cost) => {
    one(cost);
    const r = await storage.increment(key, window_ms, limit, block_ms, "default");
    return {
      allowed: !r.isBlocked,
      remaining: r.isBlocked ? 0 : limit - r.totalHits,
      wait_ms: r.isBlocked ? r.timeToBlockExpire * 1000 : undefined,
    };
  };
}

function fastify(redis, { limit, window_ms }, continueExceeding, exponentialBackoff) {
  const Store = require("@fastify/rate-limit/store/RedisStore.js");
  const store = new Store(continueExceeding, exponentialBackoff, redis);
  return async (key, cost) => {
    one(cost);
    const { current, ttl } = await new Promise((resolve, reject) => {
      store.incr(key, (error, result) => (error ? reject(error) : resolve(result)), window_ms, limit);
    });
    const allowed = current <= limit;
    return { allowed, remaining: Math.max(0, limit - current), wait_ms: allowed ? undefined : ttl };
  };
}

function ratelimiter(redis, { limit, window_ms }) {
  const Ratelimiter = onTime("ratelimiter", "ratelimiter/microtime", true);
  const limiter = kept((id) => new Ratelimiter({ id, db: redis, max: limit, duration: window_ms }));
  return (key, cost) => {
    one(cost);
    return new Promise((resolve, reject) => {
      limiter(key).get((error, r) => {
        if (error) return reject(error);
        // It says what there was before the call.
        const allowed = r.remaining > 0;
        resolve({ allowed, remaining: Math.max(0, r.remaining - 1), wait_ms: allowed ? undefined : r.resetMs - Date.now() });
      });
    });
  };
}

function asyncRatelimiter(redis, { limit, window_ms }) {
  const AsyncRatelimiter = onTime("async-ratelimiter", "async-ratelimiter/src/microtime", false);
  const limiter = new AsyncRatelimiter({ db: redis, max: limit, duration: window_ms });
  return async (key, cost) => {
    one(cost);
    const { remaining } = await limiter.get({ id: key });
    return { allowed: remaining > 0, remaining: Math.max(0, remaining - 1) };
  };
}

function rolling(redis, { limit, window_ms }) {
  const { RedisRateLimiter } = require("rolling-rate-limiter");
  const limiter = new RedisRateLimiter({ client: redis, namespace: "rolling:", interval: window_ms, maxInInterval: limit });
  return async (key, cost) => {
    one(cost);
    const r = await limiter.limitWithInfo(key);
    return { allowed: !r.blocked, remaining: r.actionsRemaining, wait_ms: r.blocked ? r.millisecondsUntilAllowed : undefined };
  };
}

function redisGCRA(redis, { rate, burst }) {
  const gcra = require("redis-gcra");
  const limiter = gcra({ redis, keyPrefix: "gcra:", burst, rate, period: 1000 });
  return async (key, cost) => {
    const { limited, remaining, retryIn } = await limiter.limit({ key, cost });
    return { allowed: !limited, remaining, wait_ms: limited && Number.isFinite(retryIn) ? retryIn : undefined };
  };
}

// bottleneck asks for a job to start at once or never.
function bottleneck(redis, options, strategy = "OVERFLOW") {
  const Bottleneck = require("bottleneck");
  const connection = new Bottleneck.IORedisConnection({ client: redis });
  const limiter = kept((id) => new Bottleneck({
    id,
    connection,
    datastore: "ioredis",
    highWater: 0,
    strategy: Bottleneck.strategy[strategy],
    ...options,
  }));
  return async (key, cost) => {
    await limiter(key).ready();
    try {
      await limiter(key).schedule({ weight: cost }, async () => {});
    } catch (error) {
      if (error instanceof Bottleneck.BottleneckError && /dropped/.test(error.message)) return { allowed: false };
      throw error;
    }
    return { allowed: true };
  };
}

// bullmq asks for a job as a worker does that knows of no limit yet, so that
// the queue's own state decides.
function bullmq(redis, { limit, window_ms }) {
  const { Queue, Worker } = require("bullmq");
  const queues = kept((name) => {
    const options = { connection: redis, prefix: "bull" };
    const queue = new Queue(name, options);
    const worker = new Worker(name, undefined, { ...options, autorun: false, limiter: { max: limit, duration: window_ms } });
    worker.on("error", (error) => console.error(`writers: ${error.message}`));
    return { queue, worker, waiting: 0 };
  });
  return async (key, cost) => {
    one(cost);
    const q = queues(key);
    if (q.waiting === 0) {
      await q.queue.add("job", {});
      q.waiting++;
    }
    q.worker.limitUntil = 0;
    const job = await q.worker.getNextJob("token", { block: false });
    if (!job) return { allowed: false, wait_ms: await q.queue.getRateLimitTtl(limit) };
    q.waiting--;
    await job.moveToCompleted("done", "token", false);
    return { allowed: true };
  };
}

const text = (ms) => `${ms} ms`;

export const libraries = {
  "rate-limit-redis": rateLimitRedis,
  "rate-limiter-flexible": rateLimiterFlexible,
  "upstash-fixed": (redis, s) => upstash(redis, (R) => R.fixedWindow(s.limit, text(s.window_ms))),
  "upstash-sliding": (redis, s) => upstash(redis, (R) => R.slidingWindow(s.limit, text(s.window_ms))),
  "upstash-token": (redis, s) => upstash(redis, (R) => R.tokenBucket(s.rate, text(s.window_ms), s.burst)),
  "upstash-multi-fixed": (redis, s) => upstash(redis, (R) => R.fixedWindow(s.limit, text(s.window_ms)), true),
  "upstash-multi-sliding": (redis, s) => upstash(redis, (R) => R.slidingWindow(s.limit, text(s.window_ms)), true),
  nestjs: nest,
  fastify: (redis, s) => fastify(redis, s, false, false),
  "fastify-continue": (redis, s) => fastify(redis, s, true, false),
  "fastify-backoff": (redis, s) => fastify(redis, s, false, true),
  ratelimiter,
  "async-ratelimiter": asyncRatelimiter,
  "rolling-rate-limiter": rolling,
  "redis-gcra": redisGCRA,
  bottleneck: (redis, s) => bottleneck(redis, { reservoir: s.limit, reservoirRefreshInterval: s.window_ms, reservoirRefreshAmount: s.limit }),
  "bottleneck-increase": (redis, s) => bottleneck(redis, { reservoir: s.burst, reservoirIncreaseInterval: s.window_ms, reservoirIncreaseAmount: s.rate, reservoirIncreaseMaximum: s.burst }),
  "bottleneck-time": (redis, s) => bottleneck(redis, { minTime: s.window_ms }),
  "bottleneck-block": (redis, s) => bottleneck(redis, { minTime: s.window_ms, penalty: s.block_ms }, "BLOCK"),
  bullmq,
};
