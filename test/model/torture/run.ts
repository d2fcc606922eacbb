/**
 * The long torture: `node test/model/torture/run.ts [--seed S] [--rows N] [--kills N] [--minutes M] [--redis|--embedded]
 * [--part steps|random|recovery|hosts] [--step NAME]`. Prints a table in markdown, one row for each part.
 *
 * `hosts` needs PostgreSQL and a redis-server, and is left out where one is missing.
 * Without `--redis` or `--embedded` random kills meet both queues, where there is a redis-server. `--minutes` bounds the
 * whole: where it is short, rows and kills are fewer. Exits 1 with what was violated and the place of the kept folders.
 */
import { parseArgs } from 'node:util';
import { findPostgres } from '#test/support/postgres-server.ts';
import { findRedisServer } from '#test/support/redis-server.ts';
import type { QueueKind } from './ground.ts';
import { hostsPart, type PartEnd, randomPart, recoveryPart, stepsPart } from './parts.ts';
import { headerLines, rowLine } from './table.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    rows: { type: 'string' },
    kills: { type: 'string' },
    minutes: { type: 'string' },
    redis: { type: 'boolean' },
    embedded: { type: 'boolean' },
    part: { type: 'string' },
    step: { type: 'string' },
  },
});

const killsMax = 200;
const rowsPerKill = 50;
/** Measured on two busy cores. */
const killsPerMinute = 15;
const minutesMax = 120;
const toldViolationsMax = 20;

const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const minutes = Math.min(Number(values.minutes ?? minutesMax), minutesMax);
const queues = queueKinds();
/** Three hosts share a PostgreSQL and a Redis of this machine. */
const hostsAreThere = queues.includes('redis') && findPostgres() !== null;
const minutesPerPart = minutes / (queues.length + (hostsAreThere ? 3 : 2));
const kills = Number(values.kills ?? Math.max(5, Math.min(killsMax, Math.floor(minutesPerPart * killsPerMinute))));
const rows = Number(values.rows ?? kills * rowsPerKill);
/** Short ones still need the time that a few processes take to start. */
const patienceMs = Math.max(minutesPerPart, 2) * 60_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const [firstQueue] = queues;
const parts: Readonly<Record<string, readonly (() => Promise<PartEnd>)[]>> = {
  steps: [() => stepsPart({ seed, queue: firstQueue, patienceMs, step: values.step ?? null })],
  random: queues.map((queue) => () => randomPart({ seed, queue, rows, kills, patienceMs })),
  recovery: [() => recoveryPart({ seed, queue: firstQueue, patienceMs })],
  hosts: hostsAreThere ? [() => hostsPart({ seed, queue: 'redis', rows, kills, patienceMs })] : [],
};
const chosen = values.part === undefined ? Object.values(parts).flat() : (parts[values.part] ?? []);
if (chosen.length === 0) throw new Error(`there is no part ${values.part}: ${Object.keys(parts).join(', ')}`);

process.stderr.write(`torture: seed ${seed}, ${rows} rows, ${kills} kills, ${queues.join(' and ')}\n`);
say(headerLines());
for (const part of chosen) {
  const { row, violations, kept } = await part();
  say(rowLine(row));
  if (violations.length === 0) continue;
  process.exitCode = 1;
  process.stderr.write(`${row.part}: ${violations.length} violations; the data is kept in ${kept}\n`);
  for (const violation of violations.slice(0, toldViolationsMax)) process.stderr.write(`  ${violation}\n`);
}

function queueKinds(): readonly [QueueKind, ...QueueKind[]] {
  if (values.redis === true) return values.embedded === true ? ['embedded', 'redis'] : ['redis'];
  return values.embedded === true || findRedisServer() === null ? ['embedded'] : ['embedded', 'redis'];
}
