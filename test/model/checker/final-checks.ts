/**
 * What must be true when nothing is pending any more: the invariants of `docs/rules.md`, "One contact per key" and "Accounting",
 * and for each field what "Three pictures, one plan" says.
 */
import { pendingCount } from '#src/ledger/runs.ts';
import type { DeadRow, StagingLedger } from '#src/ledger/staging.ts';

import type { Fate } from '../commands/fates.ts';
import type { Row } from '../commands/model.ts';
import { fieldBreachesOf } from './judged-fields.ts';
import type { RowEnd } from './ledger-in-memory.ts';
import type { KeyPromise } from './scenario.ts';
import { realLimits } from './seams.ts';
import type { Stage } from './stage.ts';

/** Reports the first violation to the stage. `dead`: processes whose leases may be left behind. */
export async function checkEnd(stage: Stage, runIds: readonly string[], dead: ReadonlySet<string>): Promise<void> {
  const ledger = stage.ledger.open();
  const ends = stage.ledger.rowEnds();
  const deadRows: DeadRow[] = [];
  const fates = new Map<string, Fate>();
  const fateOf = ({ runId, line }: Row): Fate => fates.get(`${runId}:${line}`) ?? goodFate;
  let adoptedCount = 0;
  for (const runId of runIds) {
    const run = await ledger.runs.get(runId);
    if (run === null) continue;
    const { created, updated, unchanged, skipped, dead: deadCount } = run.counts;
    adoptedCount += run.counts.adopted;
    const countedEnds = JSON.stringify(await ledger.runs.countEnds(runId));
    if ((await ledger.runs.pendingCount(runId)) > 0) stage.violate('lostRow', `${runId} has rows without an outcome`);
    if (pendingCount(run.counts) !== 0) stage.violate('miscounted', `the counts of ${runId} do not add up`);
    if (countedEnds !== JSON.stringify({ created, updated, unchanged, skipped, dead: deadCount })) {
      stage.violate('miscounted', `the counts of ${runId} are not those of its rows`);
    }
    deadRows.push(...(await noteFates(ledger.runs, runId, fates)));
  }
  for (const promise of stage.scenario.keys) {
    const own = ends.filter(({ key }) => key === promise.key);
    checkContact(stage, promise, own);
    checkDeaths(stage, promise, deadRows);
    if (stage.scenario.keys.length === 1) checkOutcomes(stage, promise, own, adoptedCount);
    if (promise.isConflict || stage.service.contactsOf(promise.key).length !== 1) continue;
    const events = stage.events.get(promise.key) ?? [];
    for (const breach of fieldBreachesOf(events, fateOf)) stage.violate('brokenRule', `${promise.key}: ${breach}`);
  }
  for (const { key, owner, leaseUntilMs } of stage.ledger.keyRows()) {
    if (owner === null || dead.has(owner.split('#')[0] ?? '') || stage.ledgerFailed) continue;
    stage.violate('leaseLeft', `${owner} lives, has ended, and still holds ${key} until ${leaseUntilMs}`);
  }
}

const goodFate: Fate = { skipped: null, dead: null, held: new Set() };

async function noteFates(staging: StagingLedger, runId: string, fates: Map<string, Fate>): Promise<readonly DeadRow[]> {
  const note = (line: number, change: (fate: Fate) => Partial<Fate>): void => {
    const fate = fates.get(`${runId}:${line}`) ?? goodFate;
    fates.set(`${runId}:${line}`, { ...fate, ...change(fate) });
  };
  const dead = await staging.deadRows(runId, 0, 100);
  for (const { line, code } of dead) note(line, () => ({ dead: code }));
  for (const { kind, line, code, field } of await staging.events(runId, 0, 1_000)) {
    if (kind === 'skipped') note(line, () => ({ skipped: code }));
    if (kind === 'held') note(line, ({ held }) => ({ held: new Set([...held, field ?? '']) }));
  }
  return dead;
}

function checkContact(
  stage: Stage,
  { key, madeByOthers, isConflict = false }: KeyPromise,
  ends: readonly RowEnd[],
): void {
  const contacts = stage.service.contactsOf(key);
  if (contacts.length > Math.max(1, madeByOthers)) {
    stage.violate('duplicate', `there are ${contacts.length} contacts of ${key}`);
  }
  const linkedTo = stage.scenario.links?.[key];
  if (linkedTo !== undefined && contacts.some(({ id }) => id !== linkedTo)) {
    stage.violate('duplicate', `${key} is ${linkedTo}, which had no externalId, and has a contact beside it`);
  }
  if (isConflict) {
    if (ends.some(({ outcome }) => outcome !== 'dead')) {
      stage.violate('conflictTaken', `a row of ${key} ended well, and there are ${contacts.length} contacts of it`);
    }
    return;
  }
  if (ends.every(({ outcome }) => outcome === 'dead')) return;
  const [contact] = contacts;
  if (contact === undefined) {
    stage.violate('lostRow', `${key} has no contact, and no row that says why`);
    return;
  }
  const row = stage.ledger.keyRow(key);
  if (row?.state !== 'bound' || row.contactId !== contact.id) {
    stage.violate('wrongBase', `the ledger has ${key} ${row?.state} to ${row?.contactId}, and it is ${contact.id}`);
  }
}

/** A row may die of doubt after three creates or updates in doubt, while others got through; else of what the scenario names. */
function checkDeaths(stage: Stage, { key }: KeyPromise, dead: readonly DeadRow[]): void {
  for (const row of dead) {
    if (row.key !== key || stage.scenario.mayDie.includes(row.code)) continue;
    const doubts = stage.doubts.get(key) ?? 0;
    const isDoubt = row.class === 'doubt' && doubts >= realLimits.attemptsMax && stage.scenario.outageWrites === 0;
    if (!isDoubt) stage.violate('unjustDeath', `a row of ${key} died of ${row.code}: ${row.problems[0]?.message}`);
  }
}

/** A contact of ours was created once; one that others made was adopted. */
function checkOutcomes(
  stage: Stage,
  { key, known, isInPlace, isConflict }: KeyPromise,
  ends: readonly RowEnd[],
  adoptedCount: number,
): void {
  if (isConflict || ends.some(({ outcome }) => outcome === 'dead')) return;
  const madeByUs = !known && stage.service.contactsOf(key).length > stage.service.madeByOthers(key);
  // The past has created it where it was known.
  const createdCount = ends.filter(({ outcome }) => outcome === 'created').length - Number(known);
  if (createdCount !== Number(madeByUs)) {
    stage.violate(
      'miscounted',
      `${createdCount} rows say that they created ${key}, and it was ${madeByUs ? '' : 'not '}we`,
    );
  }
  if (adoptedCount > Number(isInPlace ?? false) && (madeByUs || known))
    stage.violate('miscounted', `${key} counts as adopted, and it was ours`);
}
