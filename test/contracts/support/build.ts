/** Builders for what goes into a ledger. Keys name records. */
import { createHash } from 'node:crypto';
import type { Ownership, Said } from '#src/contacts/base.ts';
import type { Claim } from '#src/contacts/claim.ts';
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { ActKind, NewAct } from '#src/ledger/acts.ts';
import type { BoundContact, Horizon, LeaseRequest, LeaseResult } from '#src/ledger/contacts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { type NewRun, noOptions, type RunRecord } from '#src/ledger/runs.ts';
import type {
  DeadRow,
  NewStagedRecord,
  RecordEnd,
  SettledRecord,
  SettleRequest,
  StagedRecord,
  StagedSlice,
} from '#src/ledger/staging.ts';
import type { Row } from '#src/sources/row.ts';
import { type Contact, contactReply } from '#src/wire/contact.ts';

export const leaseMs = 500;
export const horizonMs = 2_000;

export const horizonAt = (atMs: number): Horizon => ({ atMs, spanMs: horizonMs });

/** A hash of 128 bits, as the ledger keeps them. */
export const hash = (name: string): string =>
  createHash('sha256').update(name).digest().subarray(0, 16).toString('base64url');

export const createdAtMs = 1_800_000_000_000;

/** What a person did. */
export const act = (kind: ActKind, parts: Partial<NewAct> = {}): NewAct => ({
  ...{ kind, who: 'ann', by: 'command', reason: null, atMs: createdAtMs, ledgerAtMs: 17, facts: {} },
  ...parts,
});

export function newRun(id: string, parts: Partial<NewRun> = {}): NewRun {
  return {
    id,
    feed: 'main',
    kind: 'file',
    fileName: `${id}.csv`,
    claimedPath: `/claimed/${id}.csv`,
    importFolder: '/import',
    sha256: `sha-of-${id}`,
    bytes: 120,
    options: noOptions,
    mapping: null,
    sourceLabel: null,
    refusal: null,
    createdAtMs,
    ...parts,
  };
}

export function row(key: string, line = 2): Row {
  return { kind: 'cells', line, record: line - 1, columns: ['id', 'name'], cells: [key, 'Ann'] };
}

export function desired(key: string): DesiredContact {
  return { key, scalars: { firstName: 'Ann' }, source: null, emails: [], phones: [], customFields: [] };
}

export function newRecord(key: string, parts: Partial<NewStagedRecord> = {}): NewStagedRecord {
  const line = parts.line ?? 2;
  return {
    line,
    sequence: 1,
    key,
    rowHash: hash(`row-${key}`),
    fingerprint: hash(`print-${key}`),
    mappingVersion: 'mapping-1',
    desired: desired(key),
    row: row(key, line),
    ...parts,
  };
}

export function deadRow(key: string | null, parts: Partial<DeadRow> = {}): DeadRow {
  const code = parts.code ?? 'phoneInvalid';
  const line = parts.line ?? 2;
  const problem = { code, line, field: 'Phone', value: 'x', message: `wrong: ${code}`, hint: 'Correct it.' };
  return {
    class: 'invalid',
    code,
    line,
    key,
    problems: [problem],
    row: row(key ?? 'nobody', line),
    desired: null,
    answer: null,
    ...parts,
  };
}

export function slice(run: RunRecord, parts: Partial<StagedSlice> = {}): StagedSlice {
  return {
    runId: run.id,
    feed: run.feed,
    rowsPerBatch: 2,
    records: [],
    dead: [],
    events: [],
    counts: {},
    atMs: createdAtMs + 10,
    ...parts,
  };
}

/** A run that is being read. */
export async function stagingRun(ledger: Ledger, id: string, parts: Partial<NewRun> = {}): Promise<RunRecord> {
  const run = await ledger.runs.create(newRun(id, parts));
  await ledger.runs.beginStaging(id, createdAtMs + 1);
  return run;
}

/** A run that waits to be written, with one staged record a key, on lines 2, 3, 4… */
export async function applyingRun(
  ledger: Ledger,
  id: string,
  keys: readonly string[],
  parts: Partial<NewRun> & { readonly rowsPerBatch?: number } = {},
): Promise<RunRecord> {
  const { rowsPerBatch = 2, ...newParts } = parts;
  const run = await stagingRun(ledger, id, newParts);
  const records = keys.map((key, index) => newRecord(key, { line: index + 2, sequence: run.sequence }));
  await ledger.runs.stage(slice(run, { records, rowsPerBatch, counts: { rows: keys.length } }));
  await ledger.runs.move(id, ['staging'], 'applying', { atMs: createdAtMs + 20 });
  return run;
}

/** The run's records without an outcome, in the order of the file. */
export async function pendingOf(ledger: Ledger, run: RunRecord): Promise<readonly StagedRecord[]> {
  const batches = (await ledger.runs.nextBatches(createdAtMs, 100)).filter((one) => one.runId === run.id);
  const records: StagedRecord[] = [];
  for (const { batch } of batches) {
    records.push(...(await ledger.runs.pendingRecords(run.id, batch, createdAtMs * 2, 100)));
  }
  return records.toSorted((left, right) => left.position - right.position);
}

/** Asks for keys with today's sequence, at 1,000 by the ledger's clock unless given. */
export function lease(
  ledger: Ledger,
  owner: string,
  keys: readonly string[],
  parts: Partial<LeaseRequest> & { readonly sequence?: number } = {},
): Promise<ReadonlyMap<string, LeaseResult>> {
  const { sequence = 1, ...request } = parts;
  return ledger.contacts.lease({
    feed: 'main',
    keys: keys.map((key) => ({ key, sequence })),
    owner,
    leaseMs,
    nowMs: 1_000,
    isOwnerDead: () => false,
    ...request,
  });
}

export const nobodyOwns: Ownership = { emails: [], phones: [], customFields: [] };

export function owned(...phones: readonly string[]): Ownership {
  return { ...nobodyOwns, phones };
}

export function seenContact(key: string, id = `id-of-${key}`): Contact {
  return contactReply.parse({
    id,
    externalId: key,
    defaultFields: { firstName: 'Ann', emails: [], phoneNumbers: [] },
    customFields: [],
  });
}

export function saidOfKey(key: string): Said {
  return { scalars: { firstName: key }, emails: [], phones: [], customFields: [], held: [] };
}

export function wellEnd(
  outcome: 'created' | 'updated' | 'unchanged',
  parts: Partial<Omit<Extract<RecordEnd, { adopted: boolean }>, 'outcome'>> = {},
): RecordEnd {
  return { outcome, adopted: false, heldFields: [], removedValues: 0, warnings: [], ...parts };
}

/** The claim of an update of one field, for that feed and run. */
export function claimBy(feed: string, sequence: number): Claim {
  const fields = [{ field: 'role', from: 'Buyer', to: 'Seller' }] as const;
  return { kind: 'patch', feed, sequence, source: null, fields, said: saidOfKey('claimed') };
}

/** What is known of a contact after a write: nothing is Patchbay's own unless given. */
export function boundTo(key: string, parts: Partial<BoundContact> = {}): BoundContact {
  const contactId = parts.contactId ?? `id-of-${key}`;
  const seen = seenContact(key, contactId);
  return { contactId, seen, owned: nobodyOwns, agreed: [], stamps: [], writtenAtMs: null, ...parts };
}

/** The end of a staged record that reached its contact: both halves of the base move. */
export function settled(record: StagedRecord, parts: Partial<SettledRecord> = {}): SettledRecord {
  const { position, line, key, sequence, rowHash, fingerprint, mappingVersion } = record;
  return {
    position,
    line,
    key,
    sequence,
    end: wellEnd('created'),
    bound: boundTo(key),
    said: { said: saidOfKey(key), rowHash, fingerprint, mappingVersion, held: [] },
    others: [],
    ...parts,
  };
}

/** The end of a staged record of which the service told nothing. */
export function ended(record: StagedRecord, end: RecordEnd): SettledRecord {
  return settled(record, { end, bound: null, said: null });
}

/** All of a settling but its records. */
export function settling(run: RunRecord, owner: string): Omit<SettleRequest, 'records'> {
  return { runId: run.id, feed: run.feed, owner, atMs: createdAtMs };
}

/** Leases the records' keys for `owner` and settles them; answers how many were written. */
export async function settleAs(
  ledger: Ledger,
  run: RunRecord,
  owner: string,
  records: readonly SettledRecord[],
): Promise<number> {
  for (const { key, sequence } of records) await lease(ledger, owner, [key], { feed: run.feed, sequence });
  return ledger.runs.settle({ ...settling(run, owner), records, atMs: createdAtMs + 50 });
}
