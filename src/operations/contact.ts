/**
 * All that is known of one contact (`patchbay contact`): its row with what became of each cell, what each feed said, what was agreed,
 * what the service holds, what would be done about each field and why, and every write, doubt and letter.
 *
 * The decisions and their reasons are those of the plan (`src/contacts/plan.ts`), asked with the pictures of now: what would become of
 * the row if it came again.
 */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { baseOfAnother, type PlanInput, type Said } from '#src/contacts/base.ts';
import {
  customFieldName,
  type DesiredContact,
  type FieldName,
  itemFieldName,
  itemIdentity,
  scalarNames,
  scalarOf,
} from '#src/contacts/desired.ts';
import { itemOf } from '#src/contacts/items.ts';
import { type FieldVerdict, judgeItems } from '#src/contacts/merge.ts';
import { planContact } from '#src/contacts/plan.ts';
import { reasonWords } from '#src/contacts/policies.ts';
import { matchByKey } from '#src/contacts/reply.ts';
import { contactOfTaken, withHoldsEnded } from '#src/contacts/take-held.ts';
import { PatchbayError } from '#src/errors.ts';
import { type ContactChange, changePages, findUndoThatDeleted } from '#src/journal/changes.ts';
import type { ContactRecord, HeldRecord, KeyHistoryEntry } from '#src/ledger/contacts.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import { baseFor, mainFeed } from '#src/ledger/rules/feeds.ts';
import { deletedSentence } from '#src/ledger/rules/gone.ts';
import { noOptions } from '#src/ledger/runs.ts';
import { policiesOf } from '#src/mapping/policies-of.ts';
import { slotNamesOf } from '#src/mapping/wanted-values.ts';
import { makeAgainCommand } from '#src/runs/import-flags.ts';
import { type Contact, type CustomFieldValue, isContactId } from '#src/wire/contact.ts';
import { lookUpKeys } from '#src/workspace/look-up.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { letterDocument } from './letter-document.ts';
import { findSourceRow, type SourceRow } from './source-row.ts';

export interface NamedValue {
  readonly field: FieldName;
  readonly value: CustomFieldValue;
}

/** `fresh`: read now. `remembered`: as the service last answered. `none`: the service holds no such contact, or none is known. */
export interface Theirs {
  readonly read: 'fresh' | 'remembered' | 'none';
  /** Whether several contacts have the key. */
  readonly isSeveral: boolean;
  readonly values: readonly NamedValue[];
}

/** What one feed knows and wants of the contact. */
export interface FeedStory {
  readonly feed: string;
  readonly row: SourceRow;
  readonly said: readonly NamedValue[];
  /** What would be done about each field and item that the file names, if the row came again. */
  readonly decisions: readonly Decision[];
  /** What to type to have a deleted contact made again by a file of the feed; null where the contact is there, or its next changed row does it. */
  readonly makeAgain: string | null;
  readonly held: readonly HeldRecord[];
  readonly letters: readonly DeadLetter[];
}

export interface Decision {
  readonly field: FieldName;
  readonly decision: string;
  readonly why: string;
  readonly file: CustomFieldValue;
  readonly said: CustomFieldValue;
  readonly app: CustomFieldValue;
  /** Of an e-mail or phone that has another label in the app than in the file, and keeps it. */
  readonly labels?: { readonly file: string; readonly app: string | null };
}

export interface ContactStory {
  readonly record: ContactRecord;
  readonly theirs: Theirs;
  /** The undo that deleted the contact; null where it is there, or none is known to have deleted it. */
  readonly deletedBy: string | null;
  readonly agreed: readonly (NamedValue & { readonly feed: string | null })[];
  readonly feeds: readonly FeedStory[];
  /** Newest first. */
  readonly writes: readonly ContactChange[];
  readonly history: readonly KeyHistoryEntry[];
}

type ContactHome = Pick<Home, 'ledger' | 'config' | 'feeds'>;

const writesMax = 200;

/**
 * The key that a person means: a key, a contact's id, a phone number or an e-mail address as the service last returned it.
 * @throws PatchbayError `usage`: `noSuchContact`, `contactAmbiguous`.
 */
export async function findContactKey({ ledger }: Pick<Home, 'ledger'>, text: string): Promise<string> {
  const wanted = text.normalize('NFC').trim();
  if (await isKnown({ ledger }, wanted)) return wanted;
  const found = await ledger.contacts.keysSeenWith(wanted);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined) {
    throw new PatchbayError(
      'usage',
      'noSuchContact',
      `no contact with this key, id, phone number or e-mail address is known: ${text}`,
      {
        hint: 'Write the externalId as the file has it, with the prefix of its mapping; a phone number with + and its country code.',
      },
    );
  }
  throw new PatchbayError('usage', 'contactAmbiguous', `${found.length} contacts have ${text}`, {
    hint: `Name one of them by its key: ${found.slice(0, 10).join(', ')}`,
  });
}

async function isKnown({ ledger }: Pick<Home, 'ledger'>, key: string): Promise<boolean> {
  const record = (await ledger.contacts.get([key])).get(key);
  if (record !== undefined && (record.contactId !== null || record.saids.length > 0 || record.state !== 'none'))
    return true;
  const feeds = (await ledger.deliveries.standings()).map(({ feed }) => feed);
  const letters = await Promise.all(feeds.map((feed) => ledger.deadLetters.ofKey(feed, key)));
  return letters.some((ofFeed) => ofFeed.length > 0);
}

/**
 * @param workspace null: the service is not asked, and what it last returned stands for what it holds.
 * @throws PatchbayError as reads do (`port.ts`); a service that refuses all look-ups stands for one that is not asked.
 */
export async function readContact(home: ContactHome, key: string, workspace: Workspace | null): Promise<ContactStory> {
  const { ledger } = home;
  const record = (await ledger.contacts.get([key])).get(key) ?? unknownContact(key);
  const held = await ledger.contacts.held({ keys: [key], limit: 10_000 });
  const there: There =
    workspace === null ? { contact: record.seen, obstacle: null } : await readTheirs(workspace, record);
  const theirs = there.contact;
  const isAsked = workspace !== null && there.obstacle !== 'lookUpsRefused';
  const definitions = isAsked ? await workspace.listCustomFields() : null;
  const isDeleted = there.obstacle === 'deleted';
  const deletedBy = isDeleted ? await findUndoThatDeleted(ledger.contacts, key, record.contactId) : null;
  const feeds: FeedStory[] = [];
  const known = [
    ...(await ledger.deliveries.standings()).map(({ feed }) => feed),
    ...record.saids.map(({ feed }) => feed),
  ];
  for (const feed of [...new Set(known)].toSorted()) {
    const said = record.saids.find((one) => one.feed === feed)?.said ?? null;
    const letters = await ledger.deadLetters.ofKey(feed, key);
    if (said === null && letters.length === 0) continue;
    const row = await findSourceRow(home, feed, key, definitions);
    const ofFeed = held.filter((one) => one.feed === feed);
    const ours = row.kind === 'found' && row.desired !== null ? row.desired : oursOf(key, said, ofFeed);
    const decisions = await decisionsOf(home, feed, { record, there, deletedBy, ours, held: ofFeed });
    const isLeftGone = isDeleted && home.feeds.rulesOf(feed).onGone !== 'recreate';
    const makeAgain = isLeftGone
      ? makeAgainCommand({ feed, options: { ...noOptions, only: [key], repair: true } })
      : null;
    feeds.push({
      feed,
      row,
      said: said === null ? [] : valuesOfSaid(said),
      decisions,
      makeAgain,
      held: ofFeed,
      letters,
    });
  }
  const writes: ContactChange[] = [];
  for await (const page of changePages(ledger.contacts, { key, newestFirst: true }, writesMax)) writes.push(...page);
  const read = theirs === null ? 'none' : isAsked ? 'fresh' : 'remembered';
  return {
    record,
    theirs: { read, isSeveral: there.obstacle === 'several', values: theirs === null ? [] : valuesOf(theirs) },
    deletedBy,
    agreed: record.agreed
      .filter(({ isTakenBack }) => !isTakenBack)
      .flatMap(({ feed, values }) => values.map((one) => ({ feed, ...one })))
      // Of an e-mail or phone it is the label.
      .filter(({ field }) => itemOf(field) === null),
    feeds,
    writes,
    history: await ledger.contacts.history(key),
  };
}

function unknownContact(key: string): ContactRecord {
  return {
    ...{
      key,
      state: 'none',
      contactId: null,
      seen: null,
      agreed: [],
      stamps: [],
      saids: [],
      writtenAtMs: null,
      attempts: 0,
    },
    ...{ owned: { emails: [], phones: [], customFields: [] }, intentRun: null, claim: null, linkedTo: null },
  };
}

/** What the service holds of the key. */
interface There {
  readonly contact: Contact | null;
  /** Why a row cannot be written to it, and neither makes one; null where it is written, or makes one. */
  readonly obstacle: Obstacle | null;
}

type Obstacle = 'deleted' | 'several' | 'otherKey' | 'oddReply' | 'lookUpFails' | 'lookUpsRefused';

/** Read as an import reads: by its key first, which shows others that have it, too; by its id where no list shows it in full. */
async function readTheirs(workspace: Workspace, { key, contactId, seen }: ContactRecord): Promise<There> {
  const found = await lookUpKeys(workspace, [key]).catch((error: unknown) => {
    // The control key is refused, too: an import rejects no row for that.
    if (seen !== null && error instanceof PatchbayError && error.kind === 'rejected') return null;
    throw error;
  });
  if (found === null) return { contact: seen, obstacle: 'lookUpsRefused' };
  const { contacts, failures } = found;
  const failure = failures.get(key);
  if (failure !== undefined) {
    if (contactId === null) throw failure;
    return { contact: await workspace.getContact(contactId), obstacle: 'lookUpFails' };
  }
  const match = matchByKey(key, contacts);
  if (match.kind === 'conflict')
    return { contact: contacts.find(({ id }) => id === contactId) ?? null, obstacle: 'several' };
  const listed = match.kind === 'one' ? match.contact : null;
  if (listed !== null && listed.missing === undefined) return { contact: listed, obstacle: null };
  const id = listed?.id ?? contactId;
  if (id === null) return { contact: null, obstacle: null };
  if (!isContactId(id)) return { contact: listed ?? seen, obstacle: 'oddReply' };
  const contact = await workspace.getContact(id);
  if (contact === null) return { contact, obstacle: 'deleted' };
  return { contact, obstacle: contact.externalId === key ? null : 'otherKey' };
}

/** Where the cells are gone: what the file said last, with the values that wait. What no row said, a row that comes again does not say. */
function oursOf(key: string, said: Said | null, held: readonly HeldRecord[]): DesiredContact {
  const { scalars, emails, phones, customFields } = said ?? { scalars: {}, emails: [], phones: [], customFields: [] };
  const ofRows = held.filter(({ line }) => line !== 0);
  const waiting = contactOfTaken(key, ofRows);
  const isWaiting = (name: string) => waiting.customFields.some((one) => one.key === name);
  return {
    ...{ key, source: null, emails, phones },
    scalars: { ...scalars, ...waiting.scalars },
    customFields: [...customFields.filter((one) => !isWaiting(one.key)), ...waiting.customFields],
  };
}

interface Pictures {
  readonly record: ContactRecord;
  readonly there: There;
  readonly deletedBy: string | null;
  readonly ours: DesiredContact;
  /** Of the feed. */
  readonly held: readonly HeldRecord[];
}

async function decisionsOf(
  { ledger, config, feeds }: ContactHome,
  feed: string,
  { record, there, deletedBy, ours, held }: Pictures,
): Promise<readonly Decision[]> {
  const { contact: theirs, obstacle } = there;
  const mapping = (await ledger.runs.lastAccepted(feed, Number.MAX_SAFE_INTEGER))?.run.mapping ?? null;
  const isLinked = theirs !== null && record.linkedTo === theirs.id;
  const known = baseFor(record, feed, (other) => feeds.exists(other));
  const isAnother = theirs !== null && record.contactId !== null && record.contactId !== theirs.id;
  const isMoved = isAnother && !isLinked && record.state !== 'intent';
  const base = isMoved ? baseOfAnother(known) : known;
  const input: PlanInput = {
    feed,
    // As if the row came with a run of now.
    sequence: Number.MAX_SAFE_INTEGER,
    sourceLabel: null,
    base: withHoldsEnded(base, held, { feed, ours, theirs, isOfFile: true }),
    theirs,
    ours,
    policies: policiesOf(mapping),
    itemRemoval: config.upsert.itemRemoval,
    adopt: theirs !== null && !isLinked && feeds.rulesOf(feed).adopt,
    isLinked,
    yieldsItems: feed === mainFeed,
    restores: false,
    slotNames: mapping === null ? null : slotNamesOf(mapping),
  };
  const plan = planContact(input);
  const asDecision = ({ field, decision, why, ours: file, said, theirs: app, labels }: FieldVerdict): Decision => {
    const asIs = { field, decision, why: reasonWords[why], file, said, app };
    if (labels === undefined) return asIs;
    return { ...asIs, why: `${asIs.why}, under another label`, labels: { file: labels.ours, app: labels.theirs } };
  };
  const ofFields = plan.verdicts.map(asDecision);
  const named = new Set(ofFields.map(({ field }) => field));
  const items = plan.reasons
    .filter(({ field }) => !named.has(field))
    .map(({ field, from, to, why }): Decision => ({ field, decision: 'write', why, file: to, said: null, app: from }));
  const notes = plan.notes
    .filter(({ field }) => !named.has(field))
    .map(
      ({ field, message }): Decision => ({ field, decision: 'keep', why: message, file: null, said: null, app: null }),
    );
  // Of a contact that is to be made every item is written.
  const judged =
    theirs === null ? [] : (['email', 'phone'] as const).flatMap((kind) => judgeItems(kind, input, theirs));
  const decisions = [...ofFields, ...items, ...notes, ...judged.map(asDecision)];
  if (obstacle === null) return decisions;
  const words =
    obstacle === 'deleted'
      ? deletedWords(deletedBy, feeds.rulesOf(feed).onGone === 'recreate')
      : obstacleWords[obstacle];
  return decisions.map((one) => ({ ...one, ...words }));
}

function deletedWords(deletedBy: string | null, isMadeAgain: boolean): Pick<Decision, 'decision' | 'why'> {
  const deleted = deletedSentence(deletedBy);
  return isMadeAgain
    ? { decision: 'write', why: `${deleted}, and is made again (onGone: recreate)` }
    : { decision: 'keep', why: `${deleted}: the row is skipped (gone), unless onGone: recreate makes it again` };
}

/** What becomes of each field of a contact that is there, and cannot be written to. */
const obstacleWords = {
  several: { decision: 'keep', why: 'several contacts have this externalId: the row is rejected (twoContacts)' },
  otherKey: { decision: 'keep', why: 'the contact has another externalId now: the row is rejected (keyMoved)' },
  oddReply: {
    decision: 'keep',
    why: 'no contact can be read by the id that the service gives: the row is rejected (oddReply)',
  },
  lookUpFails: {
    decision: 'keep',
    why: 'the service does not answer the look-up of this externalId: the row is rejected (lookUpFails)',
  },
  lookUpsRefused: {
    decision: 'keep',
    why: 'the service refuses every look-up: the run waits, and nothing is lost (requestRefused)',
  },
} as const;

/** What the service holds, field by field; items under their identity. */
function valuesOf(contact: Contact): readonly NamedValue[] {
  const { emails, phoneNumbers } = contact.defaultFields;
  const scalars = scalarNames.map((field): NamedValue => ({ field, value: scalarOf(contact, field) }));
  return [
    ...scalars.filter(({ value }) => value !== null),
    ...emails.flatMap(({ value }) => (value === null ? [] : [itemValue('email', value)])),
    ...phoneNumbers.flatMap(({ value }) => (value === null ? [] : [itemValue('phone', value)])),
    ...contact.customFields.map(({ key, value }) => ({ field: customFieldName(key), value })),
  ];
}

/** An item that several columns named is one: those that the file has lost or renamed said it as well. */
function valuesOfSaid({ scalars, emails, phones, customFields }: Said): readonly NamedValue[] {
  const named = (kind: 'email' | 'phone', slots: Said['emails']): readonly NamedValue[] =>
    [...new Set(slots.flatMap(({ items }) => items.map(({ value }) => value)))].map((value) => itemValue(kind, value));
  return [
    ...scalarNames.flatMap((field) => (scalars[field] === undefined ? [] : [{ field, value: scalars[field] ?? null }])),
    ...named('email', emails),
    ...named('phone', phones),
    ...customFields.map(({ key, value }) => ({ field: customFieldName(key), value })),
  ];
}

function itemValue(kind: 'email' | 'phone', value: string): NamedValue {
  return { field: itemFieldName(kind, itemIdentity(kind, value)), value };
}

/** `contact KEY --json`. */
export function contactDocument({ record, theirs, deletedBy, agreed, feeds, writes, history }: ContactStory): object {
  const { key, state, contactId, linkedTo, claim, intentRun } = record;
  return {
    ...{ key, state, contact: contactId, linked: linkedTo !== null },
    inDoubt: claim !== null || intentRun !== null,
    deletedBy,
    app: { read: theirs.read, values: theirs.values },
    agreed,
    feeds: feeds.map(({ feed, row, said, decisions, held, letters }) => ({
      feed,
      row: row.kind === 'found' ? { ...row, desired: row.explained.contact } : row,
      said,
      decisions,
      held: held.map(({ field, ours, theirs: app, sinceMs, runId, line }) => {
        return { field, file: ours, app, since: isoInstant(sinceMs), run: runId, line };
      }),
      letters: letters.map(letterDocument),
    })),
    writes,
    history: history.map(({ atMs, runId, kind, contactId: contact, detail }) => {
      return { at: isoInstant(atMs), run: runId, kind, contact, detail };
    }),
  };
}
