/** Plans over the parts of a runs bench: a real ledger, a real service, and everything that a plan must leave as it was. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { noOptions, type RunOptions, type RunRecord } from '#src/ledger/runs.ts';
import { type PlanRequest, type PlanService, planFile, planStoppedRun, planToImport } from '#src/operations/plan.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import { submitFile } from '#src/runs/enter-run.ts';
import { type BenchOptions, type ImportOptions, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { type ReadPlan, readWhole } from './read-plan.ts';

export interface PlanBench {
  readonly bench: RunsBench;
  readonly service: PlanService;
  plan(name: string, content: string, given?: PlanOptions): Promise<ReadPlan>;
  planRun(run: RunRecord, only?: readonly string[] | null): Promise<ReadPlan>;
  /** Enters the file as a run that carries the plan out; it is not staged yet. */
  submitPlan(made: Pick<MadePlan, 'plan'>, raised?: Partial<RunOptions>): Promise<RunRecord>;
  /** From the plan to a run at rest. */
  carryOut(made: Pick<MadePlan, 'plan'>, raised?: Partial<RunOptions>): Promise<RunRecord>;
  /** All that a plan must not touch: the ledger without its plans, the files, the contacts. */
  everything(): Promise<unknown>;
}

export interface PlanOptions extends ImportOptions {
  readonly only?: readonly string[];
  readonly onProgress?: PlanRequest['onProgress'];
  readonly onWait?: (ms: number) => void;
  readonly signal?: AbortSignal;
}

/** @param given a bench that is open already, or how one is opened. */
export async function openPlanBench(given: BenchOptions | RunsBench = {}): Promise<PlanBench> {
  const bench = 'parts' in given ? given : await openRunsBench(given);
  const { parts, world, ledger, folder } = bench;
  const { clock } = world;
  const service: PlanService = {
    reading: parts,
    plan: {
      ...{ ledger, clock, upsert: world.parts, requestsPerSecond: 8, serviceName: 'sandbox' },
      draftsFolder: join(folder, 'drafts'),
    },
  };
  const home = {
    ledger,
    feeds: parts.feeds,
    config: { mapping: { defaultCountry: parts.defaultCountry, onBlank: parts.onBlank } },
  };
  const submitPlan: PlanBench['submitPlan'] = async (made, raised = {}) => {
    // Only these two settings of the configuration are looked at.
    const planned = await planToImport(home as never, made.plan.id, null, { ...noOptions, ...raised });
    return (await submitFile(parts, planned.file, planned.options, planned.choice)).run;
  };
  return {
    bench,
    service,
    plan: async (name, content, given = {}) => {
      const {
        feed = 'main',
        options: chosen = {},
        only,
        onProgress = () => undefined,
        onWait,
        signal,
        ...named
      } = given;
      const made = await planFile(service, {
        file: { path: await bench.write(name, content), name },
        isInput: false,
        options: { ...noOptions, ...chosen },
        choice: { feed: await parts.feeds.get(feed), ...named },
        mappingNamed: given.mappingNamed ?? null,
        only: only ?? null,
        signal: signal ?? new AbortController().signal,
        onProgress,
        ...(onWait === undefined ? {} : { onWait }),
      });
      return readWhole(made);
    },
    planRun: async (run, only = null) =>
      readWhole(
        await planStoppedRun(service, run, { signal: new AbortController().signal, onProgress: () => undefined }, only),
      ),
    submitPlan,
    carryOut: async (made, raised) => bench.carryOut(await submitPlan(made, raised)),
    everything: async () => ({
      ledger: tablesOf(world.ledgerFile),
      files: filesIn(folder),
      contacts: await world.contacts(),
      writes: [world.parts.workspace.counts().post, world.parts.workspace.counts().patch],
    }),
  };
}

/** Every row of every table, but those of plans. */
function tablesOf(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    return (
      tables
        .map(({ name }) => String(name))
        // How often numbers were given is no content.
        .filter((name) => name !== 'sqlite_sequence')
        .map((name) => {
          const where = name === 'records' ? " WHERE kind NOT IN ('plan', 'planned')" : '';
          const rows = db.prepare(`SELECT * FROM "${name}"${where}`).all();
          return [
            name,
            rows
              .map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value)))
              .sort(),
          ];
        })
    );
  } finally {
    db.close();
  }
}

function filesIn(folder: string): unknown {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ])
    .sort();
}
