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

/** The longest time, in milliseconds, for which the rate alone keeps the next request back, however far it was slowed down. */
export function longestTurnMs(requestsPerSecond: number): number {
  const slowest = requestsPerSecond * rateRule.shareMin;
  return Math.max(rateRule.secondMs, rateRule.secondMs / slowest) + rateRule.marginMs;
}

/** An unused key expires after this time, in addition to the time that it still has to remember. */
const keptIdleMs = 600_000;

type RateCall = 'take' | 'written' | 'giveBack' | 'pause';

/**
 * The script takes one key; its arguments are the call, the configured rate, and:
 *
 * - `take`: prefix, first number, number of passes wanted. The passes are named `PREFIX:NUMBER`;
 * - `written`: prefix, and pairs `NUMBER:AGO` in one text: each was written that many whole milliseconds ago;
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

-- Formatting is the slowest part: each number once.
local texts = {}
local function exact(number)
  local text = texts[number] or string.format('%.17g', number)
  texts[number] = text
  return text
end
-- Each mark is read once, and written once at the end. false: it is not set.
local marks, changed = {}, {}
local function mark(name, absent)
  local value = marks[name]
  if value == nil then
    local score = redis.call('ZSCORE', key, name)
    value = score and -tonumber(score)
    marks[name] = value
  end
  return value or absent
end
local function setMark(name, value)
  mark(name)
  if marks[name] == value then return end
  marks[name], changed[name] = value, true
end
local function saveMarks()
  local set, cleared = {}, {}
  for name in pairs(changed) do
    if marks[name] then
      set[#set + 1] = exact(-marks[name])
      set[#set + 1] = name
    else
      cleared[#cleared + 1] = name
    end
  end
  if #set > 0 then redis.call('ZADD', key, unpack(set)) end
  if #cleared > 0 then redis.call('ZREM', key, unpack(cleared)) end
end

local known = mark('seenAtMs') ~= nil
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
local function windowOf(allowed)
  return math.max(${rateRule.secondMs}, ${rateRule.secondMs} / allowed) + ${rateRule.marginMs}
end

-- Returns how many of them pass now, and how long the next one has to wait.
local function take(prefix, first, wanted)
  local allowed = configured * shareNow()
  local windowMs, perWindow = windowOf(allowed), math.max(1, math.floor(allowed))
  -- The pass of one window ago, for each that is wanted: the moment from which one more may pass.
  local place = perWindow - 1
  local newest = math.max(0, place - wanted + 1)
  local oldest = redis.call('ZREVRANGE', key, newest, place, 'WITHSCORES')
  local usedCount = redis.call('ZCOUNT', key, '(' .. exact(nowMs - 2 * windowMs), '+inf')
  local granted, waitMs, passes = 0, 0, {}
  -- Ends: each turn admits one of those wanted, or leaves.
  while granted < wanted do
    waitMs = math.max(mark('closedUntilMs', 0) - nowMs, mark('spacedAtMs', 0) - nowMs)
    local oldestMs = nowMs
    if granted <= place then oldestMs = tonumber(oldest[2 * (place - granted - newest) + 2] or '0') end
    if oldestMs > 0 then waitMs = math.max(waitMs, oldestMs + windowMs - nowMs) end
    if waitMs > 0 then break end
    passes[#passes + 1] = exact(nowMs)
    passes[#passes + 1] = string.format('%s:%d', prefix, first + granted)
    granted = granted + 1
    local fullness = math.min((usedCount + granted) / perWindow, 1)
    local spacingMs = (${rateRule.spacingShare} * windowMs * fullness) / perWindow
    setMark('spacedAtMs', math.max(mark('spacedAtMs', 0), nowMs - ${rateRule.catchUpMs}) + spacingMs)
  end
  if granted > 0 then redis.call('ZADD', key, unpack(passes)) end
  return granted, waitMs
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
    setMark('refusedAtMs' .. place, recent[place] or false)
  end
end

local granted, waitMs = 0, 0
if call == 'take' then
  granted, waitMs = take(ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]))
elseif call == 'written' then
  -- A pass that is not known here was given before a flush. None is moved back.
  local moved = {}
  for number, agoMs in string.gmatch(ARGV[4], '(%d+):(%d+)') do
    moved[#moved + 1] = exact(nowMs - tonumber(agoMs))
    moved[#moved + 1] = ARGV[3] .. ':' .. number
  end
  redis.call('ZADD', key, 'GT', unpack(moved))
elseif call == 'giveBack' then
  local first, names = tonumber(ARGV[4]), {}
  for number = first, first + tonumber(ARGV[5]) - 1 do names[#names + 1] = string.format('%s:%d', ARGV[3], number) end
  redis.call('ZREM', key, unpack(names))
else
  refuse(nowMs + tonumber(ARGV[3]))
end

-- Passes older than two windows of the slowest rate that the callers of this key may come to are not needed any more.
local keptMs = math.max(mark('keptMs', 0), 2 * windowOf(configured * ${rateRule.shareMin}))
setMark('keptMs', keptMs)
saveMarks()
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

export interface WrittenPass {
  readonly number: number;
  /** How long ago. */
  readonly agoMs: number;
}

/** Of one call: what Lua passes on as arguments at a time is limited. */
export const passesPerCallMax = 1_000;

/** The calls of the script. The caller numbers the passes and uses each number once. All calls reject while Redis is away. */
export interface RateCalls {
  /** Passes from `first` on: as many as may pass now, at most `wantedCount`. */
  take(first: number, wantedCount: number): Promise<Taken>;
  /** Each pass counts from when it was written. At most `passesPerCallMax`. */
  written(passes: readonly WrittenPass[]): Promise<void>;
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
    written: async (passes) => {
      const words = passes.map(({ number, agoMs }) => `${number}:${Math.floor(agoMs)}`).join(' ');
      await call('written', prefix, words);
    },
    giveBack: async (first, count) => void (await call('giveBack', prefix, first, count)),
    pause: async (forMs) => void (await call('pause', forMs)),
    close: () => redis.disconnect(),
  };
}
