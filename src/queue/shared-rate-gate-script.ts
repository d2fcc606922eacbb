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
import { rateRule } from '#src/workspace/rate-rule.ts';

/** A key that nobody used for so long is forgotten, beyond what it still has to remember. */
const keptIdleMs = 600_000;

export type RateGateCall = 'take' | 'written' | 'giveBack' | 'pause';

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
