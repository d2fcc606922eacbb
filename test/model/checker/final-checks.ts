/**
 * What must be true when nothing is pending any more: the invariants of `rules.md`, "One contact per key" and "Accounting".
 */
import type { RunRecord } from '#src/ledger/run-record.ts';
import { pendingCount } from '#src/ledger/run-record.ts';
import type { RecordEnd } from '#src/ledger/staged-record.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { FieldName, Fields } from './model-service.ts';
import type { KeyPromise } from './scenario.ts';
import { realLimits } from './seams.ts';
import type { Stage } from './stage.ts';

/** Reports the first violation to the stage. `dead`: processes whose leases may be left behind. */
export function checkEnd(stage: Stage, dead: ReadonlySet<string>): void {
  for (const run of stage.store.tables.runs.values()) checkAccounts(stage, run);
  for (const promise of stage.scenario.keys) {
    checkContact(stage, promise);
    checkDeaths(stage, promise);
    checkOutcomes(stage, promise);
  }
  for (const edit of stage.service.state.lostEdits) {
    stage.violate('lostEdit', `a person's ${edit.field} was overwritten by an update that must have read it`);
  }
  for (const { key, owner, leaseUntilMs } of stage.store.tables.contacts.values()) {
    if (owner === null || dead.has(owner.split('#')[0] ?? '') || stage.ledgerFailed) continue;
    stage.violate('leaseLeft', `${owner} lives, has ended, and still holds ${key} until ${leaseUntilMs}`);
  }
}

function checkAccounts(stage: Stage, run: RunRecord): void {
  const { staging } = stage.store;
  const { created, updated, unchanged, skipped, dead } = run.counts;
  const ends = JSON.stringify(staging.countEnds(run.id));
  if (staging.pendingCount(run.id) > 0) stage.violate('lostRow', `${run.id} has rows without an outcome`);
  if (pendingCount(run.counts) !== 0) stage.violate('miscounted', `the counts of ${run.id} do not add up`);
  if (ends !== JSON.stringify({ created, updated, unchanged, skipped, dead })) {
    stage.violate('miscounted', `the counts of ${run.id} are not those of its rows`);
  }
}

function checkContact(stage: Stage, { key, newest, madeByOthers }: KeyPromise): void {
  const contacts = stage.service.contactsOf(key);
  const [contact] = contacts;
  if (contacts.length > Math.max(1, madeByOthers)) {
    stage.violate('duplicate', `there are ${contacts.length} contacts of ${key}`);
  }
  const ends = endsOf(stage, key);
  if (newest === null && ends.some((end) => end.outcome !== 'dead')) {
    stage.violate('conflictTaken', `a row of ${key} ended well, and there are ${contacts.length} contacts of it`);
  }
  if (newest === null || ends.some((end) => end.outcome === 'dead')) return;
  if (contact === undefined) {
    stage.violate('lostRow', `${key} has no contact, and no row that says why`);
    return;
  }
  const edited = new Set(
    stage.service.state.edits.filter((edit) => edit.contactId === contact.id).map((one) => one.field),
  );
  const wrong = differing(newest, contact).filter((field) => !edited.has(field));
  if (wrong.length > 0) {
    const words = wrong.map((field) => `${field} is ${contact.defaultFields[field]}, not ${newest[field]}`);
    stage.violate('staleValue', `${key} is not what the newest run says: ${words.join(', ')}`);
  }
  checkBase(stage, key, contact, edited);
}

/** The ledger knows the contact, as the service returned it last. */
function checkBase(stage: Stage, key: string, contact: Contact, except: ReadonlySet<string>): void {
  const row = stage.store.tables.contacts.get(key);
  if (row?.state !== 'bound' || row.contactId !== contact.id) {
    stage.violate('wrongBase', `the ledger has ${key} ${row?.state} to ${row?.contactId}, and it is ${contact.id}`);
    return;
  }
  const { firstName, lastName, company, role } = row.seen?.defaultFields ?? {};
  const seen = { firstName, lastName, company, role };
  // An undefined member would say that nothing was promised.
  const known = Object.fromEntries(Object.entries(seen).filter(([, value]) => value !== undefined));
  const wrong = differing(known, contact).filter((field) => !except.has(field));
  if (wrong.length > 0) stage.violate('wrongBase', `the ledger remembers another ${wrong.join(', ')} of ${key}`);
}

/** A row may die of doubt after three creates or updates in doubt, while others got through; else of what the scenario names. */
function checkDeaths(stage: Stage, { key }: KeyPromise): void {
  for (const end of endsOf(stage, key)) {
    if (end.outcome !== 'dead' || stage.scenario.mayDie.includes(end.dead.code)) continue;
    const doubts = stage.doubts.get(key) ?? 0;
    const isDoubt = end.dead.class === 'doubt' && doubts >= realLimits.attemptsMax && stage.scenario.outageWrites === 0;
    if (!isDoubt)
      stage.violate('unjustDeath', `a row of ${key} died of ${end.dead.code}: ${end.dead.problems[0]?.message}`);
  }
}

/** A contact of ours was created once; one that others made was adopted. */
function checkOutcomes(stage: Stage, { key, newest, known }: KeyPromise): void {
  const ends = endsOf(stage, key);
  if (newest === null || ends.some((end) => end.outcome === 'dead')) return;
  const madeByUs = !known && stage.service.contactsOf(key).length > stage.service.madeByOthers(key);
  const createdCount = ends.filter((end) => end.outcome === 'created').length;
  if (createdCount !== Number(madeByUs)) {
    stage.violate(
      'miscounted',
      `${createdCount} rows say that they created ${key}, and it was ${madeByUs ? '' : 'not '}we`,
    );
  }
  const adoptedCount = ends.filter((end) => 'adopted' in end && end.adopted).length;
  if (adoptedCount > 0 && (madeByUs || known)) stage.violate('miscounted', `${key} counts as adopted, and it was ours`);
}

function endsOf(stage: Stage, key: string): readonly RecordEnd[] {
  return [...stage.store.tables.staged.values()].flatMap(({ record, end }) =>
    record.key === key && end !== null ? [end] : [],
  );
}

function differing(wanted: Fields, { defaultFields }: Contact): FieldName[] {
  return (Object.keys(wanted) as FieldName[]).filter((field) => wanted[field] !== defaultFields[field]);
}
