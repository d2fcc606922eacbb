/**
 * A plan as people read it: grouped by what would be done, each group cut, the summary last. Terminal, Markdown and HTML show the same
 * view. Its lists are read as they are written, so that a plan of any length needs no memory.
 */

import { isoInstant } from '#src/clock.ts';
import type { HeldField } from '#src/contacts/outcome.ts';
import type { PlannedContact } from '#src/contacts/planned.ts';
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import { fieldWithoutValue } from '#src/journal/changes.ts';
import type { PlanTotals } from '#src/ledger/plans.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { hintsOfNotes, notedIn } from '#src/runs/column-warnings.ts';
import type { ProblemLine } from '#src/runs/report.ts';
import { lineText, placeText } from '#src/sources/row.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import type { MadePlan } from '../make-plan.ts';
import { type GroupKind, hasWrites, isIn } from '../plan-totals.ts';

/** One field: before → after. Null: no value. With neither, `field` is a sentence about the contact. */
export interface ViewChange {
  readonly sign: '+' | '~' | '-' | '!';
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface ViewContact {
  /** The key and the name, and the line of the file if it is known. */
  readonly heading: string;
  readonly changes: readonly ViewChange[];
}

export interface ViewGroup {
  readonly kind: GroupKind | 'drift';
  readonly title: string;
  /** What the two values of a change are. */
  readonly columns: readonly [before: string, after: string];
  readonly contacts: AsyncIterable<ViewContact> | Iterable<ViewContact>;
  /** How many are cut. */
  readonly moreCount: number;
}

export interface PlanView {
  readonly title: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly groups: readonly ViewGroup[];
  readonly rejected: {
    readonly head: readonly string[];
    readonly rows: AsyncIterable<readonly string[]>;
    readonly count: number;
    readonly moreCount: number;
  };
  readonly notes: readonly string[];
  /** Why the import would stop; null where it would not. */
  readonly stop: { readonly message: string; readonly hints: readonly string[] } | null;
  readonly summary: readonly string[];
}

export interface ViewOptions {
  /** Contacts of each group, or of a list of all of them. */
  readonly limit: number;
  readonly values: boolean;
}

const titles: Readonly<Record<GroupKind, (count: number) => string>> = {
  create: (count) => `${counted(count, 'contact')} to create`,
  link: (count) => `${counted(count, 'contact')} to link: they are there without an externalId`,
  update: (count) => `${counted(count, 'contact')} to update`,
  remove: (count) => `${counted(count, 'contact')} that lose${count === 1 ? 's' : ''} values`,
  delete: (count) => `${counted(count, 'contact')} to delete: the run that is undone made ${themOf(count)}`,
  held: (count) => `${counted(count, 'contact')} with fields that are held: the file and the app differ`,
};

/** Those of an undo that mean something else than for a file. */
const undoTitles: Partial<typeof titles> = {
  create: (count) => `${counted(count, 'contact')} to make again: the run that is undone deleted ${themOf(count)}`,
  held: (count) =>
    `${counted(count, 'contact')} with values that changed since the run, or that another feed's file names: they stay as they are`,
};

const themOf = (count: number): string => (count === 1 ? 'it' : 'them');

export function planView(made: MadePlan, options: ViewOptions): PlanView {
  const { plan, contacts, groupCounts, problems, problemCount } = made;
  const { limit, values } = options;
  const isUndo = plan.undoes !== null;
  const groups = (Object.keys(titles) as GroupKind[]).flatMap((kind): readonly ViewGroup[] => {
    const count = groupCounts[kind];
    if (count === 0) return [];
    const shown = Math.min(count, limit);
    return [
      {
        kind,
        title: ((isUndo ? undoTitles[kind] : undefined) ?? titles[kind])(count),
        columns: kind === 'held' ? ['in the app', isUndo ? 'before the run' : 'in the file'] : ['before', 'after'],
        contacts: firstShown(contacts, shown, (one) => (isIn(kind, one) ? viewContact(kind, one, values) : null)),
        moreCount: count - shown,
      },
    ];
  });
  return {
    title: `${plan.fileName} → ${plan.service}`,
    facts: [
      ...(made.isKept ? ([['plan', plan.id]] as const) : []),
      ...(plan.runId === null ? [] : ([['run', plan.runId]] as const)),
      ...(plan.undoes === null ? [] : ([['undoes run', plan.undoes]] as const)),
      ['feed', plan.feed],
      [
        'made',
        isoInstant(plan.createdAtMs)
          .replace('T', ' ')
          .replace(/\.\d+Z$/, 'Z'),
      ],
    ],
    groups: [...groups, ...driftGroups(made, options)],
    rejected: {
      head: ['line', 'column', ...(values ? ['value'] : []), 'code', 'what to do'],
      rows: firstShown(problems, limit, (problem) => problemRow(problem, values)),
      count: problemCount,
      moreCount: Math.max(0, problemCount - limit),
    },
    notes: [
      ...missingNotes(made, options),
      ...withHints(made, values),
      ...skippedNotes(made),
      ...warningNotes(made, values),
    ],
    stop: plan.stop === null ? null : { message: plan.stop.message, hints: plan.stop.hint?.split('\n') ?? [] },
    summary: summaryOf(made),
  };
}

/** Of a plan with `--verify`: what people changed, deleted or doubled, and phone numbers that two contacts have. */
function driftGroups({ plan, drift, outcomes }: MadePlan, options: ViewOptions): readonly ViewGroup[] {
  if (drift === null || plan.reading?.options.verify !== true) return [];
  const events = outcomes.filter(({ kind }) => kind === 'drift');
  const samePhones = events.filter(({ code }) => code === 'samePhone');
  const drifted = events.filter(({ code }) => code !== 'samePhone');
  const count = drift.changed + drift.gone + drift.doubled;
  return [
    ...driftGroup(`${counted(count, 'contact')} that people changed, deleted or doubled`, count, drifted, options),
    ...driftGroup(
      `${counted(samePhones.length, 'contact')} with a phone number of another contact`,
      samePhones.length,
      samePhones,
      options,
    ),
  ];
}

function driftGroup(
  title: string,
  count: number,
  events: readonly RunEvent[],
  { limit, values }: ViewOptions,
): readonly ViewGroup[] {
  if (count === 0) return [];
  const contacts = [...Map.groupBy(events, ({ key }) => key)].slice(0, limit);
  return [
    {
      kind: 'drift',
      title,
      columns: ['in the file', 'in the app'],
      contacts: contacts.map(([key, ofKey]) => ({
        heading: values && key !== null ? key : 'contact',
        changes: ofKey.map((one) => driftChange(one, values)),
      })),
      moreCount: count - contacts.length,
    },
  ];
}

function driftChange({ code, field, file = null, app = null, ...event }: RunEvent, values: boolean): ViewChange {
  if (code === 'driftChanged' && field !== null) {
    const shown = (value: CustomFieldValue) => (values ? valueText(value) : hidden(value));
    const sign = app === null ? '-' : '~';
    return { sign, field: fieldText(field, values), before: shown(file), after: shown(app) };
  }
  const other = values && event.contact !== undefined ? `: ${event.contact}` : '';
  return { sign: '!', field: `${event.message}${other}`, before: null, after: null };
}

/**
 * The first of a list as they are shown; it is read no further, and anew each time. @param show null: the item is left out, and not counted.
 */
export function firstShown<Item, Shown>(
  items: AsyncIterable<Item>,
  limit: number,
  show: (item: Item) => Shown | null,
): AsyncIterable<Shown> {
  return {
    [Symbol.asyncIterator]: async function* () {
      let left = limit;
      if (left <= 0) return;
      for await (const item of items) {
        const shown = show(item);
        if (shown === null) continue;
        yield shown;
        left -= 1;
        if (left <= 0) return;
      }
    },
  };
}

/** `2 people are no longer in the file (1 for the first time)`. */
export function missingText({ count, new: first }: { readonly count: number; readonly new: number }): string {
  const people = count === 1 ? '1 person is' : `${count} people are`;
  return `${people} no longer in the file${first === 0 ? '' : ` (${first} for the first time)`}`;
}

const missingShown = 5;

/** The same with the first of them: `1 person is no longer in the file: crm-4 (since 2026-11-22)`. */
function missingNotes({ missing, outcomes }: MadePlan, { limit, values }: ViewOptions): readonly string[] {
  if (missing === null || missing.count === 0) return [];
  const listed = outcomes.filter(({ kind }) => kind === 'missing');
  const shown = listed
    .slice(0, limit === Number.POSITIVE_INFINITY ? limit : missingShown)
    .map(({ key, since = '' }) => `${key} (since ${since.slice(0, 10)})`);
  const more = missing.count - shown.length;
  const list = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
  return [`${missingText(missing)}${values && shown.length > 0 ? `: ${list}` : ''}`];
}

/** Why rows are skipped, and how many for each reason. */
function skippedNotes({ outcomes, areOutcomesAll }: MadePlan): readonly string[] {
  const skipped = outcomes.filter(({ kind }) => kind === 'skipped');
  return [...Map.groupBy(skipped, ({ message }) => message)].map(
    ([message, same]) => `${areOutcomesAll ? '' : 'at least '}${counted(same.length, 'row')} skipped: ${message}`,
  );
}

/** The notes of a run; behind those that are warnings what to do about them. */
function withHints({ notes, outcomes }: MadePlan, values: boolean): readonly string[] {
  const hints = hintsOfNotes(notes, outcomes);
  return notes.map((note) => {
    const hint = hints.get(note);
    return hint === undefined ? note : `${note}. ${values ? hint : withoutQuotedCells(hint)}`;
  });
}

const warningsShown = 10;

function warningNotes({ outcomes, areOutcomesAll, notes }: MadePlan, values: boolean): readonly string[] {
  const isNoted = notedIn(notes);
  const warnings = outcomes.filter((event) => event.kind === 'warning' && !isNoted(event));
  const shown = warnings.slice(0, warningsShown).map(({ field, value, message, ...place }) => {
    const cell = values && value !== null && value !== undefined ? ` ${JSON.stringify(value)}` : '';
    const where = [...lineText(place), ...(field === null ? [] : [fieldText(field, values)])].join(', ');
    return where === '' ? `${message}${cell}` : `${where}${cell}: ${message}`;
  });
  const moreCount = warnings.length - shown.length;
  return moreCount > 0
    ? [...shown, `… and ${areOutcomesAll ? '' : 'at least '}${counted(moreCount, 'more warning')}`]
    : shown;
}

function viewContact(kind: GroupKind, contact: PlannedContact, values: boolean): ViewContact {
  const { key, name, line, changes, held } = contact;
  const who = values ? [key, ...(name === null ? [] : [name])].join(', ') : 'contact';
  const shown =
    kind === 'held' ? held.map((one) => heldChange(one, values)) : changes.map((one) => viewChange(one, values));
  return { heading: [who, ...lineText({ line }).map((where) => `(${where})`)].join(' '), changes: shown };
}

function viewChange({ field, from, to, why }: PlannedContact['changes'][number], values: boolean): ViewChange {
  const isLabel = why === 'relabelled';
  return {
    sign: why === 'added' ? '+' : why === 'cleared' || why === 'removed' ? '-' : '~',
    field: `${fieldText(field, values)}${isLabel ? ', label' : ''}`,
    before: values ? valueText(from) : hidden(from),
    after: values ? valueText(to) : hidden(to),
  };
}

function heldChange({ field, theirs, ours, namedBy }: HeldField, values: boolean): ViewChange {
  const shown = (value: CustomFieldValue) => (values ? valueText(value) : hidden(value));
  const why = namedBy === undefined ? '' : ` (the file of feed ${namedBy} names it, too)`;
  return { sign: '!', field: `${fieldText(field, values)}${why}`, before: shown(theirs), after: shown(ours) };
}

/** The name of an item holds its address or number. */
function fieldText(field: string, values: boolean): string {
  return values ? field : fieldWithoutValue(field);
}

function valueText(value: CustomFieldValue): string | null {
  if (value === null) return null;
  return Array.isArray(value) ? value.join('; ') : String(value);
}

const hidden = (value: CustomFieldValue): string | null => (value === null ? null : '…');

function problemRow({ field, value, code, hint, ...place }: ProblemLine, values: boolean): readonly string[] {
  return [
    placeText(place),
    field ?? '',
    ...(values ? [value ?? ''] : []),
    code,
    values ? hint : withoutQuotedCells(hint),
  ];
}

function summaryOf({ plan, unsure, unread, sent }: MadePlan): readonly string[] {
  const { totals } = plan;
  const { patch, delete: toDelete } = totals.requests;
  // The run counts as updated also what it deletes, and a contact that it adopts with nothing to write to it.
  const asTheyAre = Math.max(0, totals.rows.updated - patch - toDelete);
  const words = [
    [totals.rows.created, plan.undoes === null ? 'to create' : 'to make again'],
    [totals.rows.updated - asTheyAre - toDelete, 'to update'],
    [toDelete, 'to delete'],
    [asTheyAre, 'to adopt as they are'],
    [totals.rows.unchanged, 'unchanged'],
    [totals.rows.skipped, 'skipped'],
    [totals.rows.dead, 'rejected'],
    [unsure - unread, 'not known yet, since they are being written'],
    [unread, 'not known, since their reads fail'],
  ] as const;
  const rows = words.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return [
    `${counted(totals.rows.rows, 'row')}${rows.length === 0 ? '' : `: ${rows.join(', ')}`}`,
    valuesLine(totals),
    requestsLine(totals, sent, unsure),
  ];
}

function valuesLine({ added, changed, cleared, removed, relabelled, heldFields }: PlanTotals): string {
  const parts = [
    `${added} added`,
    `${changed} changed`,
    `${cleared} cleared`,
    `${removed} removed`,
    ...(relabelled > 0 ? [`${relabelled} relabelled`] : []),
    `${heldFields} held`,
  ];
  return `values: ${parts.join(', ')}`;
}

function requestsLine(totals: PlanTotals, sent: MadePlan['sent'], unsure: number): string {
  const { get, post, patch, delete: deleted } = totals.requests;
  const known = unsure === 0 ? '' : ' of what is known';
  if (!hasWrites(totals)) return `nothing to write${known}; making this plan took ${counted(sent.get ?? 0, 'request')}`;
  const needed = [
    counted(get, 'read'),
    counted(post, 'create'),
    counted(patch, 'update'),
    ...(deleted > 0 ? [counted(deleted, 'deletion')] : []),
  ].join(', ');
  const time = totals.seconds === null ? '' : `; ${durationText(totals.seconds)} at the allowed rate`;
  return `it takes ${needed}${time}`;
}

function durationText(seconds: number): string {
  if (seconds < 90) return `about ${counted(Math.max(1, seconds), 'second')}`;
  return `about ${counted(Math.ceil(seconds / 60), 'minute')}`;
}
