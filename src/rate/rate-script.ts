/**
 * The rate rule: which requests of an API key may pass, and when (`docs/rules.md`, "Retries, rate, outages").
 *
 * It is a Lua script, because the state is shared by all processes that use the key: Redis runs the script one call at a
 * time, on its own clock. A model of the rule in TypeScript (`test/rate/support/rule-model.ts`) gets the same calls as the
 * script in a test, and has tests of its own for what the rule promises.
 *
 * A *pass* counts from when it was given, or from when its request was written if that is later. The *window* is a second
 * and a margin; below one request per second it is the time of one request. The *share* is the part of the configured rate
 * that is in use.
 *
 * Invariant: in no window are there more passes than the allowed number, rounded down: 2.5 per second allows 2.
 *
 * *Spacing*: the first few requests pass together; the more have passed recently, the wider they are spaced. Steady work is
 * spread evenly, which keeps connections in use instead of closing them as idle between two bursts.
 *
 * *Slow-down*: three 429 within 10 s halve the share, at most once per pause, since one burst of 429 is one message. It
 * recovers by 5 % of the configured rate per 10 s.
 *
 * A new state does not know what passed before it, so no request passes in its first second.
 */
import { randomUUID } from 'node:crypto';
import type { RedisOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { z } from 'zod';

export const rateRule = {
  secondMs: 1_000,
  /** Added to each window, so that jitter on the way does not put too many requests into one second at the service. */
  marginMs: 10,
  /** Below 1, so that the window alone limits the count and late timers cost nothing. */
  spacingShare: 0.9,
  /** How far the spacing may catch up after a late timer. */
  catchUpMs: 50,
  refusalsToSlowDown: 3,
  refusalWindowMs: 10_000,
  recoveryStepMs: 10_000,
  recoveryStep: 0.05,
  /** The rate never falls below this share of what is configured. */
  shareMin: 1 / 16,
} as const;

/** An unused key expires after this time, in addition to the time that it still has to remember. */
const keptIdleMs = 600_000;

type RateCall = 'take' | 'written' | 'giveBack' | 'pause';

/**
 * The script takes one key; its arguments are the call, the configured rate, and:
 *
 * - `take`: prefix, first number, number of passes wanted. The passes are named `PREFIX:NUMBER`;
 * - `written`: prefix, number, how long ago it was written;
 * - `giveBack`: prefix, first number, count;
 * - `pause`: for how long.
 *
 * It returns how many passes were granted, and in how many milliseconds the next one may be; the latter as text, since
 * Redis drops the fraction of a number.
 *
 * The state is one sorted set, so that it is lost as a whole or not at all. A member with a positive score is a pass: its
 * score is the moment from which it counts. The other members are *marks*, values under a name, stored as negative scores.
 *
 * Times are milliseconds. If the clock of Redis is set back, the script continues from the latest moment that it saw
 * (`aheadMs`), since a pass must never look older than it is. Callers pass durations only, so their clocks do not matter.
 *
 * @param clockMs a Lua expression for the time; tests pass their own.
 */
export function rateGateScript(clockMs: string = redisClockMs): string {
  return `
local key, call, configured = KEYS[1], ARGV[1], tonumber(ARGV[2])
local clockMs = ${clockMs}
local known = redis.call('EXISTS', key) == 1

local function exact(number) return string.format('%.17g', number) end
local function mark(name, absent)
  local score = redis.call('ZSCORE', key, name)
  if not score then return absent end
  return -tonumber(score)
end
local function setMark(name, value) redis.call('ZADD', key, exact(-value), name) end

local nowMs = clockMs + mark('aheadMs', 0)
if nowMs < mark('seenAtMs', 0) then
  nowMs = mark('seenAtMs', 0)
  setMark('aheadMs', nowMs - clockMs)
end
setMark('seenAtMs', nowMs)
if not known then setMark('closedUntilMs', nowMs + ${rateRule.secondMs}) end

local function shareNow()
  local steps = math.floor((nowMs - mark('shareSinceMs', 0)) / ${rateRule.recoveryStepMs})
  return math.min(1, mark('share', 1) + ${rateRule.recoveryStep} * steps)
end
local function countPerWindow(allowed) return math.max(1, math.floor(allowed)) end
local function windowOf(allowed)
  return math.max(${rateRule.secondMs}, ${rateRule.secondMs} / allowed) + ${rateRule.marginMs}
end

-- Zero or below: one may pass.
local function untilNextMs()
  local allowed = configured * shareNow()
  local waitMs = math.max(mark('closedUntilMs', 0) - nowMs, mark('spacedAtMs', 0) - nowMs)
  local place = countPerWindow(allowed) - 1
  local oldest = redis.call('ZREVRANGE', key, place, place, 'WITHSCORES')
  local oldestMs = tonumber(oldest[2] or '0')
  if oldestMs > 0 then waitMs = math.max(waitMs, oldestMs + windowOf(allowed) - nowMs) end
  return waitMs
end

local function admit(name)
  redis.call('ZADD', key, exact(nowMs), name)
  local allowed = configured * shareNow()
  local windowMs, perWindow = windowOf(allowed), countPerWindow(allowed)
  local usedCount = redis.call('ZCOUNT', key, '(' .. exact(nowMs - 2 * windowMs), '+inf')
  local fullness = math.min(usedCount / perWindow, 1)
  local spacingMs = (${rateRule.spacingShare} * windowMs * fullness) / perWindow
  setMark('spacedAtMs', math.max(mark('spacedAtMs', 0), nowMs - ${rateRule.catchUpMs}) + spacingMs)
end

local function refuse(untilMs)
  local closedUntilMs = math.max(mark('closedUntilMs', 0), untilMs)
  setMark('closedUntilMs', closedUntilMs)
  if nowMs < mark('quietUntilMs', 0) then return end
  local recent = {}
  for place = 1, ${rateRule.refusalsToSlowDown - 1} do
    local atMs = mark('refusedAtMs' .. place, nil)
    if atMs and nowMs - atMs < ${rateRule.refusalWindowMs} then recent[#recent + 1] = atMs end
  end
  recent[#recent + 1] = nowMs
  if #recent >= ${rateRule.refusalsToSlowDown} then
    setMark('share', math.max(shareNow() / 2, ${rateRule.shareMin}))
    setMark('shareSinceMs', nowMs)
    setMark('quietUntilMs', closedUntilMs)
    recent = {}
  end
  for place = 1, ${rateRule.refusalsToSlowDown - 1} do
    if recent[place] then setMark('refusedAtMs' .. place, recent[place])
    else redis.call('ZREM', key, 'refusedAtMs' .. place) end
  end
end

local granted, waitMs = 0, 0
if call == 'take' then
  local prefix, first, wanted = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
  -- Ends: each turn admits one of those wanted, or leaves.
  while granted < wanted do
    waitMs = untilNextMs()
    if waitMs > 0 then break end
    admit(string.format('%s:%d', prefix, first + granted))
    granted = granted + 1
  end
elseif call == 'written' then
  -- A pass that is not known here was given before a flush.
  local name = ARGV[3] .. ':' .. ARGV[4]
  local givenAtMs = tonumber(redis.call('ZSCORE', key, name) or '0')
  redis.call('ZADD', key, exact(math.max(givenAtMs, nowMs - tonumber(ARGV[5]))), name)
elseif call == 'giveBack' then
  local first = tonumber(ARGV[4])
  for number = first, first + tonumber(ARGV[5]) - 1 do
    redis.call('ZREM', key, string.format('%s:%d', ARGV[3], number))
  end
else
  refuse(nowMs + tonumber(ARGV[3]))
end

-- Passes older than two windows of the slowest rate that the callers of this key may come to are not needed any more.
local keptMs = math.max(mark('keptMs', 0), 2 * windowOf(configured * ${rateRule.shareMin}))
setMark('keptMs', keptMs)
redis.call('ZREMRANGEBYSCORE', key, '(0', exact(nowMs - keptMs))
local rememberedMs = 2 * keptMs + math.max(0, mark('closedUntilMs', 0) - nowMs)
redis.call('PEXPIRE', key, math.ceil(rememberedMs) + ${keptIdleMs})
return { granted, exact(waitMs) }
`;
}

const redisClockMs = `(function()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
end)()`;

/** The key of a gate in Redis. The braces keep it on one node of a cluster. */
export function rateGateKey(name: string): string {
  return `patchbay-rate-gate:{${name}}`;
}

export interface Taken {
  readonly grantedCount: number;
  /** Until the next request may pass; zero if all wanted passes were granted. */
  readonly waitMs: number;
}

/** The calls of the script. The caller numbers the passes and uses each number once. All calls reject while Redis is away. */
export interface RateCalls {
  /** Passes from `first` on: as many as may pass now, at most `wantedCount`. */
  take(first: number, wantedCount: number): Promise<Taken>;
  /** The pass counts from then. */
  written(number: number, agoMs: number): Promise<void>;
  /** These passes were not used. */
  giveBack(first: number, count: number): Promise<void>;
  pause(forMs: number): Promise<void>;
  close(): void;
}

export interface RateCallsOptions {
  /** Of Redis. When it retries is taken from here; when it gives up is not. */
  readonly connection: RedisOptions;
  /** Gates with one name share their state. Not a secret: it is visible in Redis. */
  readonly name: string;
  readonly requestsPerSecond: number;
  /** Redis can be asked, for the first time or again. */
  readonly onReady: () => void;
  /** The connection was closed for good. */
  readonly onEnd: () => void;
}

/** With a call pending and no answer for this time, the connection is replaced: the machine of Redis may be gone. */
const silenceMsMax = 5_000;
const connectTimeoutMs = 5_000;
const retryDelayMaxMs = 2_000;

const answerShape = z.tuple([z.int(), z.coerce.number()]);

/** What `defineCommand` adds. */
interface WithScript {
  patchbayRateGate(key: string, ...words: readonly (string | number)[]): Promise<unknown>;
}

/**
 * Opens a connection of its own for one gate, so that its calls arrive in the order in which they were made. A call is sent
 * at once or fails: a call that waited in the client's queue would arrive at the wrong time. The connection reconnects by
 * itself.
 */
export function openRateCalls(options: RateCallsOptions): RateCalls {
  const redis = new Redis({
    retryStrategy: (attempt) => Math.min(attempt * 100, retryDelayMaxMs),
    connectTimeout: connectTimeoutMs,
    ...options.connection,
    socketTimeout: silenceMsMax,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // The first call shows whether it is ready.
    enableReadyCheck: false,
  });
  // Each failed call rejects to its caller.
  redis.on('error', () => undefined);
  redis.on('ready', options.onReady);
  redis.on('end', options.onEnd);
  redis.defineCommand('patchbayRateGate', { numberOfKeys: 1, lua: rateGateScript() });
  // The client's type cannot include a command that was defined at run time.
  const scripted = redis as Redis & WithScript;

  const key = rateGateKey(options.name);
  /** Keeps the passes of this process apart from those of others. */
  const prefix = randomUUID();
  const call = async (name: RateCall, ...words: readonly (string | number)[]): Promise<Taken> => {
    const answer = await scripted.patchbayRateGate(key, name, options.requestsPerSecond, ...words);
    const [grantedCount, waitMs] = answerShape.parse(answer);
    return { grantedCount, waitMs };
  };
  return {
    take: (first, wantedCount) => call('take', prefix, first, wantedCount),
    written: async (number, agoMs) => void (await call('written', prefix, number, agoMs)),
    giveBack: async (first, count) => void (await call('giveBack', prefix, first, count)),
    pause: async (forMs) => void (await call('pause', forMs)),
    close: () => redis.disconnect(),
  };
}
