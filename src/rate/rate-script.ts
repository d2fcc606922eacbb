/**
 * The rate rule where processes share it: a script that the Redis runs, one call at a time, on its own clock.
 *
 * The rule is described in `workspace/rate-rule.ts`, and the figures come from there. The functions `untilNextMs`, `admit`
 * and `refuse` are those of the same name; a test puts the same calls to both.
 *
 * The state is one sorted set. A member with a positive score is a pass: its name is the caller's, its score the moment
 * from which it counts. The others are *marks*, each with its value as a negative score, so that one key holds all and is
 * lost as a whole or not at all. Who finds no state closes the gate for a full second.
 *
 * Time is milliseconds. A Redis whose clock is set back goes on from the latest moment that it saw (`aheadMs`), since what
 * passed may never look older than it is. Callers speak of durations only, so that their own clocks do not matter.
 */

import { randomUUID } from 'node:crypto';
import type { RedisOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { rateRule } from './rate-rule.ts';

/** A key that nobody used for so long is forgotten, beyond what it still has to remember. */
const keptIdleMs = 600_000;

type RateGateCall = 'take' | 'written' | 'giveBack' | 'pause';

/**
 * One key; the arguments are call, configured rate (empty: unlimited), then:
 *
 * - `take`: prefix, first number, how many are wanted. The passes are named `PREFIX:NUMBER`;
 * - `written`: prefix, number, how long ago it was written;
 * - `giveBack`: prefix, first number, how many;
 * - `pause`: for how long.
 *
 * It answers how many passed, how long until the next may pass, and the share of the rate that is used now; the latter two
 * as text, since a number in an answer loses its fraction.
 *
 * `clockMs` is an expression for the time; a test gives its own.
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

-- Without a limit there is nothing to remember but a pause.
if configured == nil and not known and call ~= 'pause' then
  return { tonumber(ARGV[5]) or 0, '0', '1' }
end

local nowMs = clockMs + mark('aheadMs', 0)
if nowMs < mark('seenAtMs', 0) then
  nowMs = mark('seenAtMs', 0)
  setMark('aheadMs', nowMs - clockMs)
end
setMark('seenAtMs', nowMs)
if configured ~= nil and not known then setMark('closedUntilMs', nowMs + ${rateRule.secondMs}) end

local function shareNow()
  local steps = math.floor((nowMs - mark('shareSinceMs', 0)) / ${rateRule.recoveryStepMs})
  return math.min(1, mark('share', 1) + ${rateRule.recoveryStep} * steps)
end
local function countPerWindow(allowed) return math.max(1, math.floor(allowed)) end
local function windowOf(allowed)
  return math.max(${rateRule.secondMs}, ${rateRule.secondMs} / allowed) + ${rateRule.marginMs}
end

local function untilNextMs()
  local waitMs = mark('closedUntilMs', 0) - nowMs
  if configured == nil then return waitMs end
  local allowed = configured * shareNow()
  waitMs = math.max(waitMs, mark('spacedAtMs', 0) - nowMs)
  local place = countPerWindow(allowed) - 1
  local oldest = redis.call('ZREVRANGE', key, place, place, 'WITHSCORES')
  local oldestMs = tonumber(oldest[2] or '0')
  if oldestMs > 0 then waitMs = math.max(waitMs, oldestMs + windowOf(allowed) - nowMs) end
  return waitMs
end

local function admit(name)
  if configured == nil then return end
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
  -- One that is not known here was given before a flush.
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

-- What nobody looks at any more: two windows of the slowest rate that this key's callers may come to.
if configured ~= nil then
  local keptMs = math.max(mark('keptMs', 0), 2 * windowOf(configured * ${rateRule.shareMin}))
  setMark('keptMs', keptMs)
  redis.call('ZREMRANGEBYSCORE', key, '(0', exact(nowMs - keptMs))
end
local rememberedMs = 2 * mark('keptMs', 0) + math.max(0, mark('closedUntilMs', 0) - nowMs)
redis.call('PEXPIRE', key, math.ceil(rememberedMs) + ${keptIdleMs})
return { granted, exact(waitMs), exact(shareNow()) }
`;
}

const redisClockMs = `(function()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
end)()`;

/**
 * The state of a shared rate gate in Redis: the calls of its script, and the connection that they go over.
 *
 * A call is made once and at once, or fails: what waits in a client's line would come at the wrong time. The connection
 * comes back by itself; a Redis that takes a call and says nothing for long is connected to anew, since its machine may be
 * gone. One gate has one connection, so its calls arrive in the order in which they were made.
 */
interface RateGateStoreOptions {
  readonly connection: RedisOptions;
  readonly name: string;
  readonly requestsPerSecond: number | null;
}

export interface Taken {
  readonly grantedCount: number;
  /** Until the next may pass; zero where all that were wanted passed. */
  readonly waitMs: number;
  /** Of the configured rate. */
  readonly share: number;
}

/** Passes have numbers of the caller's choice, each used once. All calls reject while Redis is away. */
interface RateGateStore {
  /** Passes from `first` on, as many as may pass now and at most `wantedCount`. */
  take(first: number, wantedCount: number): Promise<Taken>;
  /** The pass counts from then. */
  written(number: number, agoMs: number): Promise<void>;
  /** These passes were not used. */
  giveBack(first: number, count: number): Promise<void>;
  pause(forMs: number): Promise<void>;
  close(): void;
}

interface RateGateStoreEvents {
  /** Redis can be asked, for the first time or again. */
  readonly onReady: () => void;
  /** It never will be again. */
  readonly onEnd: () => void;
}

/** Nothing is heard for so long although something was asked: the connection is given up for a new one. */
const silenceMsMax = 5_000;
const connectTimeoutMs = 5_000;
const retryDelayMaxMs = 2_000;

const answerShape = z.tuple([z.int(), z.coerce.number(), z.coerce.number()]);

/** What `defineCommand` adds. */
interface WithScript {
  patchbayRateGate(key: string, ...words: readonly (string | number)[]): Promise<unknown>;
}

export function openRateGateStore(options: RateGateStoreOptions, events: RateGateStoreEvents): RateGateStore {
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
  // Each call that fails says so to its caller.
  redis.on('error', () => undefined);
  redis.on('ready', events.onReady);
  redis.on('end', events.onEnd);
  redis.defineCommand('patchbayRateGate', { numberOfKeys: 1, lua: rateGateScript() });
  // The type of a client cannot know a command that was defined at run time.
  const scripted = redis as Redis & WithScript;

  const key = rateGateKey(options.name);
  /** Tells the passes of this process from those of others. */
  const prefix = randomUUID();
  const call = async (name: RateGateCall, ...words: readonly (string | number)[]): Promise<Taken> => {
    const answer = await scripted.patchbayRateGate(key, name, options.requestsPerSecond ?? '', ...words);
    const [grantedCount, waitMs, share] = answerShape.parse(answer);
    return { grantedCount, waitMs, share };
  };
  return {
    take: (first, wantedCount) => call('take', prefix, first, wantedCount),
    written: async (number, agoMs) => void (await call('written', prefix, number, agoMs)),
    giveBack: async (first, count) => void (await call('giveBack', prefix, first, count)),
    pause: async (forMs) => void (await call('pause', forMs)),
    close: () => redis.disconnect(),
  };
}

/** The braces keep it on one node of a cluster. */
export function rateGateKey(name: string): string {
  return `patchbay-rate-gate:{${name}}`;
}
