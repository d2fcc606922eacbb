/** What a person does at the desk of a story: looks at a plan, imports what it showed, takes a run back. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { noOptions, type RunRecord } from '#src/ledger/runs.ts';
import { planFile } from '#src/operations/plan.ts';
import { beginUndo } from '#src/operations/undo.ts';
import { type SubmitParts, submitFile } from '#src/runs/enter-run.ts';
import { createWriteHealth, type UpsertLimits } from '#src/upsert/chunk.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { type ReadPlan, readWhole } from '#test/plans/support/read-plan.ts';
import type { Feed } from './commands.ts';
import { readingSettings } from './worker.ts';

export interface Desk {
  plan(feed: Feed, text: string): Promise<ReadPlan>;
  /** Enters the file as a run that carries the plan out. */
  importAsPlanned(feed: Feed, text: string, plan: ReadPlan): Promise<RunRecord>;
  /** Enters the undo of the run. @throws PatchbayError as `beginUndo`. */
  undo(run: RunRecord, deleteCreated: boolean): Promise<RunRecord>;
}

interface DeskParts {
  readonly submit: SubmitParts;
  readonly workspace: Workspace;
  readonly limits: UpsertLimits;
  /** For files and drafts. */
  readonly folder: string;
}

export function openDesk({ submit, workspace, limits, folder }: DeskParts): Desk {
  const { ledger, clock, log, feeds, folders } = submit;
  const shared = { ledger, workspace, clock, log };
  const identity = { name: 'host/boot/desk', isDead: () => false };
  const upsert = { ...shared, identity, limits, writeHealth: createWriteHealth(clock) };
  const service = {
    reading: {
      ...shared,
      ...readingSettings,
      ...{ upsert, feeds, folders, reports: folders.reports, serviceName: 'sandbox', folderFlags: {}, auditAfterMs: 0 },
    },
    plan: {
      ...{ ledger, clock, upsert, requestsPerSecond: null, serviceName: 'sandbox' },
      draftsFolder: join(folder, 'drafts'),
    },
  };
  let fileCount = 0;
  const written = async (text: string) => {
    fileCount += 1;
    const name = `desk-${fileCount}.csv`;
    const path = join(folder, name);
    await writeFile(path, text);
    return { path, name };
  };
  return {
    plan: async (feed, text) =>
      readWhole(
        await planFile(service, {
          ...{ file: await written(text), isInput: false, options: noOptions, choice: { feed: await feeds.get(feed) } },
          ...{ mappingNamed: null, only: null, signal: new AbortController().signal, onProgress: () => undefined },
        }),
      ),
    importAsPlanned: async (feed, text, { plan }) => {
      const options = { ...noOptions, planId: plan.id };
      return (await submitFile(submit, await written(text), options, { feed: await feeds.get(feed) })).run;
    },
    undo: async (run, deleteCreated) => {
      const actor = { who: 'ann', by: 'command' } as const;
      const request = { deleteCreated, accept: true, reason: null };
      return (await beginUndo({ ledger, clock, log, actor, submit }, run, request)).run;
    },
  };
}
