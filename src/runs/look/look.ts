/**
 * A look at what is there already, before a run makes contacts, also those that people deleted: contacts of the workspace that have no externalId, and keys
 * of the ledger in another form (`docs/rules.md`, "Contacts without an externalId" and "One person under two keys").
 *
 * The workspace is listed page by page through the rate gate of all reads. The list is not kept: what remains is which row was
 * found to be which contact. An interruption stages the run anew, and lists again.
 */
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Look, RequestTotals, RunRecord } from '#src/ledger/runs.ts';
import type { NewKey, RunEvent, StagedRecord } from '#src/ledger/staging.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { comparePeople } from './derived-keys.ts';
import { compareKeys, type KeyFormCount } from './key-forms.ts';
import { type ContactMatcher, createContactMatcher, hasValues, type RowMatch, valuesOf } from './match-contacts.ts';
import { newKeys, rowsToMake, type ShownRow, shownRow } from './new-keys.ts';

export interface LookParts {
  readonly ledger: Pick<Ledger, 'runs' | 'contacts'>;
  readonly workspace: Pick<Workspace, 'listContactPages'>;
}

export interface LookResult {
  /** Null where the workspace was not looked at. */
  readonly look: Look | null;
  readonly keyForms: readonly KeyFormCount[];
  /** New keys of the run. */
  readonly creates: number;
  readonly events: readonly RunEvent[];
  readonly notes: readonly string[];
}

/** Contacts beyond them are not kept until the rows are read: the rows are kept instead. */
export const contactsKeptMax = 5_000;
/** Between two entries of how far the list has been read. */
const pagesPerEntry = 10;
/** Rows beyond it are not compared: their index would need too much memory. */
const rowsComparedMax = 1_000_000;

/** Of people whose keys have changed: one who has another e-mail address is ordinary; several are an export that was made otherwise. */
const peopleMin = 3;

function secondContactNotes(count: number): readonly string[] {
  if (count === 0) return [];
  const contacts = count === 1 ? '1 new contact seems to be' : `${count} new contacts seem to be`;
  const them = count === 1 ? 'of a person' : 'of people';
  const earlier = count === 1 ? 'the earlier contact' : 'the earlier contacts';
  return [
    `${contacts} ${them} whom this workspace knows under another key, with the same name and e-mail address or phone number (runs show lists both): delete ${earlier} in the app, or undo this run and give the row the earlier key`,
  ];
}

/** What a run is about to make. */
export interface ToBeMade {
  /** How many of its rows have a key that the feed does not know. */
  readonly creates: number;
  /** The positions of rows whose contacts are gone, and are made again (`made-again.ts`). */
  readonly again: readonly number[];
  /** Whether the file holds all people of its feed. */
  readonly isFull: boolean;
}

/**
 * Looks at what the run is about to make. `adopt`: contacts that are there are linked without asking.
 * @returns null if the run was cancelled meanwhile.
 * @throws as reads do (`workspace/port.ts`); the signal's reason.
 */
export async function lookAtNewKeys(
  parts: LookParts,
  run: RunRecord,
  { creates, again, isFull, adopt }: ToBeMade & { readonly adopt: boolean },
  signal: AbortSignal,
): Promise<LookResult | null> {
  const nothing: LookResult = { look: null, keyForms: [], creates: creates + again.length, events: [], notes: [] };
  if (creates + again.length === 0 || run.options.createAnyway) return nothing;
  const { runs } = parts.ledger;
  const forms = await compareKeys(parts.ledger, run);
  const people = await comparePeople(parts.ledger, run, isFull);
  let rows = again.length;
  const unlinked = new Map<number, NewKey['unlinked']>();
  for await (const page of newKeys(runs, run.id, signal)) {
    rows += page.length;
    for (const { position, unlinked: codes } of page) if (codes.length > 0) unlinked.set(position, codes);
    await forms.add(page);
    await people.add(page, forms.found());
  }
  const isStopped = people.count() >= peopleMin;
  const ofPeople: readonly KeyFormCount[] = isStopped ? [{ form: 'person', count: people.count() }] : [];
  const keyForms = [...forms.counts(), ...ofPeople];
  const unlisted = {
    ...nothing,
    keyForms,
    creates: rows,
    events: [...forms.events(), ...people.events()],
    notes: [...people.notes(), ...(isStopped ? [] : secondContactNotes(people.count()))],
  };
  const last = await runs.lastLook(run.feed);
  // Listing must not cost more requests than the contacts that are made, except the first time, and where people have deleted some:
  // they may have made them again by hand.
  const isDue = last === null || unlinked.size > 0 || again.length > 0 || rows >= last.pages;
  const made = () => rowsToMake(runs, run.id, again, signal);
  if (!isDue || !(await anyHasValues(made()))) return unlisted;
  const listed = await listContacts(parts, run, { creates: rows, made }, signal);
  if (listed === null) return null;
  const { matcher } = listed;
  // A second pass over the rows, only where there is something to find.
  const met = new Map<number, ShownRow>();
  for await (const page of matcher.hasMet() ? made() : []) {
    for (const row of page) if (matcher.readAgain(row)) met.set(row.position, shownRow(row));
  }
  const { matches, existing } = matcher.result();
  // Rows that are tried again are to be decided again.
  const earlier: typeof unlinked = run.kind === 'file' ? unlinked : new Map();
  const isDecided = (position: number) => adopt || earlier.has(position);
  const found = new Set(matches.map(({ position }) => position));
  const lost = lostRows(earlier).filter((position) => !found.has(position));
  await parts.ledger.runs.linkRows(run.id, [
    ...matches.map(({ position, link }) => ({
      position,
      link: isDecided(position) ? ({ ...link, isDecided: true } as const) : link,
    })),
    ...lost.map((position) => ({ position, link: { kind: 'unclear', isDecided: true } as const })),
  ]);
  const matched = matches.filter(({ link }) => link.kind === 'contact').length;
  const decided = matches.filter(({ position }) => isDecided(position)).length;
  const look = { ...listed.look, creates: rows - existing, matched, unclear: matches.length - matched, decided };
  const events = matches.flatMap((match) => matchEvent(match, met.get(match.position)));
  return {
    ...unlisted,
    look,
    creates: look.creates,
    events: [...unlisted.events, ...events],
    notes: [...unlisted.notes, ...listed.notes],
  };
}

/**
 * Rows that were to be linked in an earlier run, and whose contact was gone then, or had another key: they are no new contacts
 * either, although nothing matches them any more.
 */
function lostRows(unlinked: ReadonlyMap<number, NewKey['unlinked']>): readonly number[] {
  const isLost = (codes: NewKey['unlinked']) => codes.includes('linkTaken') || codes.includes('linkGone');
  return [...unlinked].filter(([, codes]) => isLost(codes)).map(([position]) => position);
}

type RowPages = AsyncIterable<readonly StagedRecord[]>;

async function anyHasValues(made: RowPages): Promise<boolean> {
  for await (const page of made) if (page.some(hasValues)) return true;
  return false;
}

interface Listed {
  readonly look: Look;
  readonly notes: readonly string[];
  /** It has seen the rows and the contacts. */
  readonly matcher: ContactMatcher;
}

/**
 * Lists all contacts. The rows are read when it is known which contacts these are to be compared with, or when there are too many
 * of them to be kept: none of an empty workspace. Null if the run was cancelled meanwhile.
 */
async function listContacts(
  { ledger, workspace }: LookParts,
  run: RunRecord,
  { creates, made }: { readonly creates: number; readonly made: () => RowPages },
  signal: AbortSignal,
): Promise<Listed | null> {
  const none = { contacts: 0, unkeyed: 0, pages: 0, matched: 0, unclear: 0, decided: 0 };
  let look: Look = { ...none, creates, end: 'underWay' };
  let matcher: ContactMatcher | null = null;
  const kept: Contact[] = [];
  const requests = new Map<keyof RequestTotals, number>();
  const onRequest = (kind: keyof RequestTotals): void => void requests.set(kind, (requests.get(kind) ?? 0) + 1);
  const enter = async (): Promise<void> => {
    const totals = Object.fromEntries(requests);
    requests.clear();
    await ledger.runs.record(run.id, { look, requests: totals });
  };
  await enter();
  try {
    for await (const page of workspace.listContactPages({ signal, onRequest })) {
      if (matcher !== null) page.forEach(matcher.addContact);
      else if (kept.push(...page) > contactsKeptMax) matcher = await matcherOf(made(), createContactMatcher(), kept);
      const unkeyed = page.filter(({ externalId }) => (externalId ?? '') === '').length;
      look = { ...look, contacts: look.contacts + page.length, unkeyed: look.unkeyed + unkeyed, pages: look.pages + 1 };
      if (look.pages % pagesPerEntry !== 0) continue;
      await enter();
      if ((await ledger.runs.get(run.id))?.state !== 'staging') return null;
    }
    look = { ...look, end: 'whole' };
  } catch (error) {
    const end = endOfList(error);
    if (end === null) throw error;
    look = { ...look, end };
  } finally {
    await enter();
  }
  matcher ??= await matcherOf(made(), createContactMatcher(valuesOf(kept)), kept);
  return { look, notes: notesOn(look), matcher };
}

/** Shows it the rows, and the contacts so far, which are not kept any longer. */
async function matcherOf(made: RowPages, matcher: ContactMatcher, kept: Contact[]): Promise<ContactMatcher> {
  if (kept.length === 0) return matcher;
  let rows = 0;
  for await (const page of made) {
    for (const row of page.slice(0, rowsComparedMax - rows)) matcher.addRow(row);
    rows += page.length;
    if (rows >= rowsComparedMax) break;
  }
  kept.forEach(matcher.addContact);
  kept.length = 0;
  return matcher;
}

/** Null for an error after which the list is read again. */
function endOfList(error: unknown): 'refused' | 'cut' | null {
  if (!(error instanceof PatchbayError)) return null;
  if (error.code === 'tooManyPages') return 'cut';
  return error.kind === 'rejected' ? 'refused' : null;
}

function notesOn({ end, contacts, creates }: Look): readonly string[] {
  const notes: string[] = [];
  if (end === 'refused')
    notes.push(
      'the service gives no list of all contacts: contacts without an externalId cannot be found, and may be made again',
    );
  if (end === 'cut')
    notes.push(`the workspace has more than ${contacts} contacts: the others were not compared with those to be made`);
  if (creates > rowsComparedMax)
    notes.push(`the run makes more than ${rowsComparedMax} contacts: the others were not compared with the workspace`);
  return notes;
}

function matchEvent({ link, field, contactId, contactName }: RowMatch, row: ShownRow | undefined): readonly RunEvent[] {
  if (row === undefined) return [];
  const { line, key, name } = row;
  const value = field.startsWith('phone.') ? 'phone number' : 'e-mail address';
  const isFound = link.kind === 'contact';
  const message = isFound
    ? `a contact without an externalId has the same ${value}`
    : `several contacts or rows have the same ${value}, or it leads to several contacts`;
  const code = isFound ? 'matchFound' : 'matchUnclear';
  const names = { contact: contactId, file: name, app: contactName };
  return [{ kind: 'match', line, key, code, field, message, ...names }];
}
