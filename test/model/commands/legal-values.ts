/**
 * What a contact may hold at the end, by the rules of "Three pictures, one plan".
 *
 * A row *counts* where it reached its contact. It is a *change* of a field where the feed's row before it that counted said
 * something else, or nothing.
 */
import type { Feed } from './commands.ts';
import type { Fate, Fates } from './fates.ts';
import type { Edit, KeyModel, Row } from './model.ts';

type Step = { readonly entry: Edit } | { readonly entry: Row; readonly fate: Fate; readonly isChange: boolean };

const counts = (fate: Fate): boolean => fate.skipped === null && fate.dead === null;

/**
 * The history of one field, with which rows changed it. `overtakenLanded`: the write of a row that a newer file overtook
 * had landed in doubt, so that its feed has said it; nobody can tell from outside.
 */
function stepsOf(key: KeyModel, fates: Fates, field: 'role' | 'phone', overtakenLanded = false): readonly Step[] {
  const said = new Map<Feed, string>();
  return key.history.map((entry): Step => {
    if (entry.kind !== 'row') return { entry };
    const fate = fates.of(entry);
    if (overtakenLanded && !counts(fate)) said.set(entry.feed, entry[field]);
    const isChange = counts(fate) && said.get(entry.feed) !== entry[field];
    // A held field stays to be done: the feed has not said it yet.
    if (counts(fate) && !(field === 'role' && fate.held.has('role'))) said.set(entry.feed, entry[field]);
    return { entry, fate, isChange };
  });
}

export interface RoleVerdict {
  readonly legal: ReadonlySet<string>;
  /** Sentences about what must not have happened on the way. */
  readonly breaches: readonly string[];
}

/**
 * Only files changed it: the newest change. Only people changed it: their last value. Both: theirs, where it was held; or
 * the file's, where the file changed after the product had seen theirs on the way to something else.
 */
export function legalRoles(key: KeyModel, fates: Fates): RoleVerdict {
  const plain = rolesWhere(key, fates, false);
  const landed = rolesWhere(key, fates, true);
  return { legal: new Set([...plain.legal, ...landed.legal]), breaches: plain.breaches };
}

function rolesWhere(key: KeyModel, fates: Fates, overtakenLanded: boolean): RoleVerdict {
  const steps = stepsOf(key, fates, 'role', overtakenLanded);
  const written = steps.flatMap(({ entry, ...step }) =>
    entry.kind === 'row' && 'fate' in step && step.isChange && !step.fate.held.has('role') ? [entry] : [],
  );
  const edits = steps.flatMap(({ entry }) => (entry.kind === 'role' ? [entry] : []));
  const held = steps.some((step) => 'fate' in step && step.fate.held.has('role'));
  const newest = written.at(-1);
  const places = new Map(key.history.map((entry, index) => [entry, index]));
  const isLater = (row: Row, than: Row | undefined): boolean =>
    than === undefined || (places.get(row) ?? 0) > (places.get(than) ?? 0);
  /** Rows given up after the newest change: nobody can tell whether they landed. */
  const open = steps.flatMap(({ entry, ...step }) =>
    entry.kind === 'row' && 'fate' in step && step.fate.dead !== null && isLater(entry, newest) ? [entry.role] : [],
  );
  const lastEdit = edits.at(-1);
  if (lastEdit === undefined) {
    const breaches = held ? ['the role is held, and nobody but files changed it'] : [];
    return { legal: new Set(newest === undefined ? open : [newest.role, ...open]), breaches };
  }
  const mayFollow = newest !== undefined && !lastEdit.before.has(newest.runId);
  return {
    legal: new Set([lastEdit.value, ...(mayFollow ? [newest.role] : []), ...open]),
    breaches: unheld(key, fates),
  };
}

/**
 * People changed the role while no row of the key was at work, and the contact was known. Then the first row after that
 * which changes anything meets a role that it has not seen: where it changes the role, it must hold it.
 */
function unheld(key: KeyModel, fates: Fates): readonly string[] {
  const roleSteps = stepsOf(key, fates, 'role');
  const phoneSteps = stepsOf(key, fates, 'phone');
  return roleSteps.flatMap(({ entry }, index) => {
    if (entry.kind !== 'role') return [];
    const earlier = roleSteps.slice(0, index).flatMap((step) => ('fate' in step ? [step] : []));
    const isQuiet = earlier.every((step) => entry.before.has(step.entry.runId));
    const isKnown = earlier.some((step) => counts(step.fate));
    if (!isQuiet || !isKnown) return [];
    for (let next = index + 1; next < roleSteps.length; next += 1) {
      const role = roleSteps[next];
      const phone = phoneSteps[next];
      if (role === undefined || !('fate' in role)) continue;
      // A row that was given up or overtaken may have been at work for a while, and may have seen.
      if (!counts(role.fate)) return [];
      const changesPhone = phone !== undefined && 'fate' in phone && phone.isChange;
      if (!role.isChange && !changesPhone) continue;
      const isBreach = role.isChange && !role.fate.held.has('role');
      return isBreach ? [`${role.entry.role} was written over ${entry.value} without being held`] : [];
    }
    return [];
  });
}

export interface PhoneVerdict {
  readonly must: ReadonlySet<string>;
  readonly may: ReadonlySet<string>;
}

/** The phones of one feed: the one of its newest row that counts, and none that it said before. */
export function legalPhones(key: KeyModel, fates: Fates, feed: Feed): PhoneVerdict {
  const plain = phonesWhere(key, fates, feed, false);
  const landed = phonesWhere(key, fates, feed, true);
  const must = [...plain.must].filter((phone) => landed.must.has(phone));
  return { must: new Set(must), may: new Set([...plain.may, ...landed.may]) };
}

function phonesWhere(key: KeyModel, fates: Fates, feed: Feed, overtakenLanded: boolean) {
  const steps = stepsOf(key, fates, 'phone', overtakenLanded);
  const must = new Set<string>();
  const may = new Set<string>();
  const rows = steps.flatMap((step) => ('fate' in step && step.entry.feed === feed ? [step] : []));
  const newest = rows.findLast((step) => counts(step.fate));
  // A row that was given up, or overtaken by a newer file, may have landed before: nobody can tell, so it may be there.
  for (const { entry, fate } of rows) if (!counts(fate)) may.add(entry.phone);
  if (newest === undefined) return { must, may };
  // Given up or overtaken after it: what that row left behind is open, the phone of the row before it as well.
  const isOvertaken = rows.indexOf(newest) < rows.length - 1;
  const { phone } = newest.entry;
  may.add(phone);
  const removedAt = steps.findLastIndex(({ entry }) => entry.kind === 'removePhone' && entry.value === phone);
  const removal = steps[removedAt]?.entry;
  if (removal?.kind !== 'removePhone') return { must: new Set(isOvertaken ? [] : [phone]), may };
  // Removed by people, it comes back only where the feed said something else meanwhile and says it anew.
  const saidAnew = rows.filter((step) => step.isChange && step.entry.phone === phone);
  const isAfter = saidAnew.some((step) => steps.indexOf(step) > removedAt);
  const isOpen = saidAnew.some((step) => !removal.before.has(step.entry.runId));
  if (isAfter && !isOvertaken) must.add(phone);
  else if (!isAfter && !isOpen) may.delete(phone);
  return { must, may };
}

/** What people added and did not remove. */
export function phonesByHand(key: KeyModel): ReadonlySet<string> {
  const phones = new Set<string>();
  for (const entry of key.history) {
    if (entry.kind === 'addPhone') phones.add(entry.value);
    if (entry.kind === 'removePhone') phones.delete(entry.value);
  }
  return phones;
}
