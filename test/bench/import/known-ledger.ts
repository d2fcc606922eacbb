/**
 * Makes a ledger that knows each row of a file, without a request: `known-ledger.ts FILE FEED STATE`, with the environment of a
 * command on that data folder. The file goes the way of every file, staging and batches, with a workspace in memory that
 * answers each create at once; so the ledger holds what an import writes, whatever its tables are. The run is `done` then,
 * and not audited; or `stopped` after its last row, so that what its end costs can be measured.
 *
 * Prints `{"rows","seconds"}`. Imports `#src` and `#jobs` of the package that it lies in (`known-folder.ts`).
 */
import { rm } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { importFile } from '#jobs/import-file.ts';
import { openHome } from '#src/app.ts';
import { loadConfig } from '#src/config/load.ts';
import { batchContext } from '#src/engine/job-context.ts';
import { noOptions } from '#src/ledger/runs.ts';
import { silentLogger } from '#src/log.ts';
import { submitFile } from '#src/runs/enter-run.ts';
import { processBatch } from '#src/upsert/process-batch.ts';
import type { Contact, CreateContactBody } from '#src/wire/contact.ts';
import type { Workspace } from '#src/workspace/port.ts';

const [file = '', feed = '', state = 'done'] = process.argv.slice(2);
const startedAt = performance.now();
const { config } = await loadConfig({ env: process.env, flags: {}, configPath: null, cwd: process.cwd() });
const home = await openHome(config, silentLogger(), { sandboxAsked: false, look: false });
const never = new AbortController().signal;
const pause = async () => false;
const context = batchContext(home, memoryWorkspace(), { pause, exhausted: async () => undefined, atWork: () => never });
const { runs } = home.ledger;

const { run } = await submitFile(home.submit, file, noOptions, { feed: await home.feeds.get(feed) });
const alone = { sweep: async () => undefined, staging: new Set<string>(), audits: context.runs };
await importFile.process({ runId: run.id }, { ...context, ...alone }, never);
// Ends: each turn settles rows, or waits for those that a busy machine has put off.
while ((await runs.pendingCount(run.id)) > 0) {
  const batches = await runs.nextBatches(await home.ledger.nowMs(home.clock), 100);
  for (const batch of batches) {
    if ((await processBatch(context.upsert, batch, never)) === 'stale')
      throw new Error(`batch ${batch.batch} is stale`);
    await nextTurn();
  }
  if (batches.length === 0) await home.clock.sleep(100);
}
const ended = await runs.get(run.id);
if (ended === null || ended.counts.created !== ended.counts.rows)
  throw new Error(`not every row was created: ${JSON.stringify(ended)}`);
const atMs = home.clock.nowMs();
if (state === 'stopped') {
  const reason = { code: 'guardRefusals', message: 'stopped for the benchmark', hint: null, facts: {} };
  await runs.move(run.id, ['applying'], 'stopped', { atMs, reason });
} else {
  await runs.move(run.id, ['applying'], 'done', { atMs });
  await runs.prune(run.id);
  await rm(ended.claimedPath, { force: true });
}
await home.close();
console.log(JSON.stringify({ rows: ended.counts.rows, seconds: (performance.now() - startedAt) / 1_000 }));

function memoryWorkspace(): Workspace {
  let count = 0;
  const refuse = async (): Promise<never> => {
    throw new Error('only look-ups and creates are answered here');
  };
  return {
    origin: 'http://127.0.0.1:9',
    listByExternalIds: async () => ({ contacts: [], readAtMs: home.clock.monotonicMs() }),
    listContactPages: async function* () {},
    createContact: async (body, options) => {
      await options?.beforeSend?.();
      count += 1;
      return { kind: 'done', contact: contactOf(body, count.toString(16).padStart(24, '0')) };
    },
    getContact: refuse,
    updateContact: refuse,
    deleteContact: refuse,
    listCustomFields: async () => [],
    listPhoneNumberPages: async function* () {},
    listPhoneNumberIds: async () => [],
    counts: () => ({ get: 0, post: 0, patch: 0, delete: 0, retried: 0, rateLimited: 0 }),
    close: async () => undefined,
  };
}

/** The reply of the service to a create, with ids as long as its own. */
function contactOf({ externalId, source, sourceUrl, defaultFields }: CreateContactBody, id: string): Contact {
  const { firstName, lastName, company, role, emails = [], phoneNumbers = [] } = defaultFields;
  const withId = (item: { readonly name: string; readonly value: string }, index: number) => ({
    id: `${id}${index}`,
    ...item,
  });
  return {
    id,
    externalId: externalId ?? null,
    source: source ?? null,
    sourceUrl: sourceUrl ?? null,
    defaultFields: {
      ...{ firstName, lastName: lastName ?? null, company: company ?? null, role: role ?? null },
      emails: emails.map(withId),
      phoneNumbers: phoneNumbers.map(withId),
    },
    customFields: [],
    createdAt: '2026-11-21T14:00:00.000Z',
    updatedAt: '2026-11-21T14:00:00.000Z',
    createdByUserId: 'USbench',
  };
}
