/**
 * A look at what is there already, before a run makes contacts: contacts of the workspace that have no externalId, and keys
 * of the ledger in another form (`docs/rules.md`, "Contacts without an externalId" and "One person under two keys").
 *
 * The workspace is listed page by page through the rate gate of all reads. The list is not kept: what remains is which row was
 * found to be which contact. An interruption stages the run anew, and lists again.
 */
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Look, RequestTotals, RunRecord } from '#src/ledger/runs.ts';
import { eventsPerRunMax, type NewKeyRow, type RunEvent } from '#src/ledger/staging.ts';
import type { Workspace } from '#src/workspace/port.ts';
import type { KeyFormCount } from './guards.ts';
import {
  type ContactMatcher,
  createContactMatcher,
  foldCase,
  formsOf,
  type KeyForm,
  nameOf,
  type RowMatch,
  sameUnderOtherKey,
} from './match-contacts.ts';

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

const rowsPerPage = 500;
/** Between two entries of how far the list has been read. */
const pagesPerEntry = 10;
/** Rows beyond it are not compared: their index would need too much memory. */
export const rowsComparedMax = 1_000_000;
const prefixesMax = 20;
/** Known keys that a page of rows is compared with. */
const alikePerPageMax = 10_000;

/**
 * Looks at what the run is about to make. `creates`: how many of its rows have a key that the feed does not know. `adopt`:
 * contacts that are there are linked without asking.
 * @returns null if the run was cancelled meanwhile.
 * @throws as reads do (`workspace/port.ts`); the signal's reason.
 */
export async function lookAtNewKeys(
  parts: LookParts,
  run: RunRecord,
  { creates, adopt }: { readonly creates: number; readonly adopt: boolean },
  signal: AbortSignal,
): Promise<LookResult | null> {
  const nothing: LookResult = { look: null, keyForms: [], creates, events: [], notes: [] };
  if (creates === 0 || run.options.createAnyway) return nothing;
  const matcher = createContactMatcher();
  const forms = await compareKeys(parts.ledger, run);
  let rows = 0;
  const unlinked = new Map<number, NewKeyRow['unlinked']>();
  for await (const page of newKeyRows(parts.ledger, run.id, signal)) {
    for (const row of page) {
      rows += 1;
      if (row.unlinked.length > 0) unlinked.set(row.position, row.unlinked);
      if (rows <= rowsComparedMax) matcher.addRow(row);
    }
    await forms.add(page);
  }
  const unlisted = { ...nothing, keyForms: forms.counts(), creates: rows, events: forms.events() };
  const last = await parts.ledger.runs.lastLook(run.feed);
  // Listing must not cost more requests than the contacts that are made, except the first time.
  const isDue = last === null || unlinked.size > 0 || rows >= last.pages;
  if (!matcher.hasValues() || !isDue) return unlisted;
  const listed = await listContacts(parts, run, rows, matcher, signal);
  if (listed === null) return null;
  // A second pass over the rows, only where there is something to find.
  const met = new Map<number, ShownRow>();
  const again = matcher.hasMet() ? newKeyRows(parts.ledger, run.id, signal) : [];
  for await (const page of again) {
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
  return { ...unlisted, look, creates: look.creates, events: [...unlisted.events, ...events], notes: listed.notes };
}

/**
 * Rows that were to be linked in an earlier run, and whose contact was gone then, or had another key: they are no new contacts
 * either, although nothing matches them any more.
 */
function lostRows(unlinked: ReadonlyMap<number, NewKeyRow['unlinked']>): readonly number[] {
  const isLost = (codes: NewKeyRow['unlinked']) => codes.includes('linkTaken') || codes.includes('linkGone');
  return [...unlinked].filter(([, codes]) => isLost(codes)).map(([position]) => position);
}

/** What is shown of a row. */
interface ShownRow {
  readonly line: number;
  readonly key: string;
  readonly name: string | null;
}

function shownRow({ line, key, desired }: NewKeyRow): ShownRow {
  return { line, key, name: nameOf(desired.scalars) };
}

async function* newKeyRows(
  { runs }: LookParts['ledger'],
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<readonly NewKeyRow[]> {
  let after = 0;
  // Ends with the first short page: positions only grow.
  for (;;) {
    signal.throwIfAborted();
    const page = await runs.newKeyRows(runId, after, rowsPerPage);
    yield page;
    if (page.length < rowsPerPage) return;
    after = page.at(-1)?.position ?? after;
  }
}

/** Lists all contacts and shows them to the matcher. Null if the run was cancelled meanwhile. */
async function listContacts(
  { ledger, workspace }: LookParts,
  run: RunRecord,
  creates: number,
  matcher: ContactMatcher,
  signal: AbortSignal,
): Promise<(Pick<LookResult, 'notes'> & { readonly look: Look }) | null> {
  const none = { contacts: 0, unkeyed: 0, pages: 0, matched: 0, unclear: 0, decided: 0 };
  let look: Look = { ...none, creates, end: 'underWay' };
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
      page.forEach(matcher.addContact);
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
  return { look, notes: notesOn(look) };
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

/** Compares new keys, page by page, with those that the ledger knows. None of a redrive: a person has looked at its rows. */
async function compareKeys({ runs, contacts }: LookParts['ledger'], run: RunRecord) {
  const counts = new Map<KeyForm, number>();
  const events: RunEvent[] = [];
  const prefix = run.mapping?.keyPrefix ?? '';
  const prefixes = run.kind === 'file' ? await runs.keyPrefixes(prefixesMax) : [];
  const add = async (rows: readonly NewKeyRow[]): Promise<void> => {
    if (run.kind !== 'file') return;
    const wanted = rows.map((row) => ({ row, forms: formsOf(row.key, prefix, prefixes) }));
    const known = await contacts.alikeKeys([...new Set(wanted.flatMap(({ forms }) => forms))], alikePerPageMax);
    if (known.length === 0) return;
    const byFolded = Map.groupBy(known, ({ key }) => foldCase(key));
    for (const { row, forms } of wanted) {
      const alike = forms.flatMap((form) => byFolded.get(form) ?? []);
      const found = alike.length === 0 ? null : sameUnderOtherKey(row, alike, prefix, prefixes);
      if (found === null) continue;
      counts.set(found.form, (counts.get(found.form) ?? 0) + 1);
      if (events.length < eventsPerRunMax) events.push(keyEvent(shownRow(row), found.known));
    }
  };
  return {
    add,
    counts: (): readonly KeyFormCount[] => [...counts].map(([form, count]) => ({ form, count })),
    events: (): readonly RunEvent[] => events,
  };
}

function keyEvent({ line, key, name }: ShownRow, known: string): RunEvent {
  const message = 'the ledger knows this person under another form of the key';
  return { kind: 'match', line, key, code: 'matchKey', field: null, message, contact: known, file: name };
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
