/**
 * Runs over real parts: files in a temporary folder, a ledger in a file, the workspace service on loopback.
 *
 * What a queue would do is done by hand, step by step: submit, stage, write, finish. `import` does all of them.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { ConfigInput } from '#src/config/schema.ts';
import { openRedriveSupply } from '#src/dead-letters/redrive.ts';
import type { Actor } from '#src/ledger/acts.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { noOptions, pendingCount, type RunCounts, type RunOptions, type RunRecord } from '#src/ledger/runs.ts';
import type { RunDeadRow, RunEvent } from '#src/ledger/staging.ts';
import { silentLogger } from '#src/log.ts';
import { type Mapping, mappingSchema } from '#src/mapping/mapping-schema.ts';
import { type SubmitParts, submitFile } from '#src/runs/enter-run.ts';
import { finishCancelled, finishRun } from '#src/runs/finish-run.ts';
import type { GuardLimits } from '#src/runs/guards.ts';
import { type StageParts, stageRun } from '#src/runs/stage.ts';
import { type OpenSupply, openFileSupply, type SupplyParts } from '#src/runs/supply.ts';
import { testFeeds } from '#test/feeds/support/test-feeds.ts';
import { openUpsertWorld, type UpsertWorld, type WorldOptions } from '#test/upsert/support/upsert-world.ts';
import { generousGuards } from './tallies.ts';

export interface ImportOptions {
  readonly options?: Partial<RunOptions>;
  /** Instead of `main`. */
  readonly feed?: string;
  readonly mapping?: Mapping | null;
  readonly mappingNamed?: string;
}

export interface RunsBench {
  readonly world: UpsertWorld;
  readonly ledger: Ledger;
  readonly parts: RunParts;
  readonly folder: string;
  /** Writes a file into the temporary folder and gives its path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
  submit(name: string, content: string | Uint8Array, given?: ImportOptions): Promise<RunRecord>;
  /** Reads the run's file, or its dead letters, to the end. */
  stage(run: RunRecord, given?: { supply?: OpenSupply; signal?: AbortSignal; parts?: RunParts }): Promise<RunRecord>;
  /** Writes all that is pending. */
  apply(run: RunRecord): Promise<RunRecord>;
  finish(run: RunRecord): Promise<RunRecord>;
  /** Stages, writes and finishes a run that is queued. */
  carryOut(run: RunRecord): Promise<RunRecord>;
  /** From a text to a run at rest. */
  import(name: string, content: string | Uint8Array, given?: ImportOptions): Promise<RunRecord>;
  again(run: RunRecord): Promise<RunRecord>;
  report(run: RunRecord): Promise<Report>;
  fixFile(run: RunRecord): Promise<{ path: string; text: string }>;
  deadRows(run: RunRecord): Promise<readonly RunDeadRow[]>;
  events(run: RunRecord): Promise<readonly RunEvent[]>;
  letters(): Promise<readonly DeadLetter[]>;
  /** Names in a folder below the temporary one; empty where it is not there. */
  names(...path: readonly string[]): Promise<string[]>;
}

// biome-ignore lint/suspicious/noExplicitAny: the report as a script reads it
export type Report = any;

/** All that runs are entered, staged and finished with. */
type RunParts = SubmitParts & StageParts & SupplyParts & { readonly actor: Actor };

/** More than any test needs; a run that never ends shows here. */
const roundsMax = 60;

export interface BenchOptions extends Partial<RunParts>, Pick<WorldOptions, 'patchMode' | 'limits'> {
  readonly guards?: GuardLimits;
  /** Of `main`. */
  readonly mapping?: Mapping | null;
  /** As the config file has them. */
  readonly configured?: NonNullable<ConfigInput['feeds']>;
}

/** Closed and removed when the test ends. */
export async function openRunsBench(options: BenchOptions = {}): Promise<RunsBench> {
  const { patchMode, limits = {}, guards = generousGuards, mapping = null, configured = {}, ...others } = options;
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-runs-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const feeds = await testFeeds({ guards, mapping, configured, importFolders: [join(folder, 'import')] });
  const world = await openUpsertWorld({
    ...(patchMode === undefined ? {} : { patchMode }),
    limits: { ownsItems: feeds.exists, ...limits },
  });
  const { ledger, clock } = world;
  const parts: RunParts = {
    ledger,
    workspace: world.parts.workspace,
    upsert: world.parts,
    clock,
    log: silentLogger(),
    folders: {
      claimed: join(folder, 'claimed'),
      handedOver: join(folder, 'handed-over'),
      drafts: join(folder, 'drafts'),
      reports: join(folder, 'reports'),
      importFolders: [join(folder, 'import')],
    },
    feeds,
    reports: join(folder, 'reports'),
    host: null,
    entering: new Set(),
    rowsPerBatch: 100,
    defaultCountry: null,
    onBlank: 'keep',
    serviceName: 'sandbox',
    folderFlags: {},
    auditAfterMs: 0,
    actor: { who: 'ann', by: 'command' },
    ...others,
  };
  await mkdir(join(folder, 'import'));

  const again: RunsBench['again'] = async (run) => (await ledger.runs.get(run.id)) ?? run;
  const write: RunsBench['write'] = async (name, content) => {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  };
  const submit: RunsBench['submit'] = async (name, content, { options = {}, feed = 'main', ...named } = {}) => {
    const path = await write(name, content);
    const choice = { feed: await parts.feeds.get(feed), ...named };
    return (await submitFile(parts, path, { ...noOptions, ...options }, choice)).run;
  };
  const stage: RunsBench['stage'] = async (run, { supply, signal, parts: other = parts } = {}) => {
    const open = (one: RunRecord) =>
      one.kind === 'redrive' ? openRedriveSupply(other, one) : openFileSupply(other, one);
    await stageRun(other, run, supply ?? open, signal ?? new AbortController().signal);
    return again(run);
  };
  const apply: RunsBench['apply'] = async (run) => {
    for (let round = 0; (await ledger.runs.pendingCount(run.id)) > 0; round += 1) {
      if (round > roundsMax) throw new Error(`the run still has pending rows after ${roundsMax} rounds`);
      const nowMs = await ledger.nowMs(clock);
      const batches = (await ledger.runs.nextBatches(nowMs, 1_000)).filter((one) => one.runId === run.id);
      const dueAtMs = Math.min(...batches.map((batch) => batch.dueAtMs));
      clock.advance(Math.max(0, dueAtMs - nowMs));
      await world.workOnce(run);
    }
    return again(run);
  };
  const finish: RunsBench['finish'] = async (run) => {
    if (!(await finishRun(parts, run.id))) await finishCancelled(parts, run.id);
    return again(run);
  };
  const carryOut: RunsBench['carryOut'] = async (run) => {
    const staged = await stage(run);
    return staged.state === 'applying' ? finish(await apply(staged)) : staged;
  };

  return {
    world,
    ledger,
    parts,
    folder,
    write,
    submit,
    stage,
    apply,
    finish,
    carryOut,
    again,
    import: async (name, content, options) => carryOut(await submit(name, content, options)),
    report: async (run) => JSON.parse(await readFile(join(parts.folders.reports, `${run.id}.json`), 'utf8')),
    fixFile: async (run) => {
      const path: unknown = JSON.parse(await readFile(join(parts.folders.reports, `${run.id}.json`), 'utf8')).fixFile;
      if (typeof path !== 'string') throw new Error('the run has no fix-file');
      return { path, text: await readFile(path, 'utf8') };
    },
    deadRows: (run) => ledger.runs.deadRows(run.id, 0, 10_000),
    events: (run) => ledger.runs.events(run.id, 0, 10_000),
    letters: async () => (await ledger.deadLetters.list({ limit: 10_000 })).toSorted((a, b) => a.line - b.line),
    names: async (...path) => (await readdir(join(folder, ...path)).catch(() => [])).toSorted(),
  };
}

/** rows = created + updated + unchanged + skipped + dead + pending, as `docs/rules.md` says, and as expected. */
export function expectCounts(run: RunRecord, expected: Partial<RunCounts> & { readonly pending?: number }): void {
  const { counts } = run;
  const { created, updated, unchanged, skipped, dead, rows } = counts;
  const pending = pendingCount(counts);
  expect({ rows, created, updated, unchanged, skipped, dead, pending }).toEqual({
    rows: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    skipped: 0,
    dead: 0,
    pending: 0,
    ...expected,
  });
}

/** A file in the generic layout. A row is `key first role`, or cells given as a list. */
export function csv(rows: readonly string[], header = 'externalId,firstName,role'): string {
  return [header, ...rows].map((row) => `${row}\r\n`).join('');
}

/** Rows with keys of their own, `from` to `from + count - 1`. */
export function fillers(count: number, from = 1): string[] {
  return Array.from({ length: count }, (_, index) => `f-${from + index},Ann,Engineer`);
}

/** A mapping as its YAML would be read. */
export function mapping(given: Record<string, unknown>): Mapping {
  return mappingSchema.parse({
    name: 'test',
    key: 'externalId',
    fields: { firstName: 'firstName', role: 'role' },
    ...given,
  });
}
