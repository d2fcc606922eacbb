/** The whole story of a run for people (`runs show`), and acts of people, which are a part of it and have a list of their own (`logs --acts`). */

import { isoInstant } from '#src/clock.ts';
import type { JournalChange } from '#src/contacts/outcome.ts';
import { type ContactChange, fieldWithoutValue } from '#src/journal/changes.ts';
import type { Actor, ActRecord } from '#src/ledger/acts.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { originOf, type RunRecord } from '#src/ledger/runs.ts';
import type { RunStory } from '#src/operations/run-story.ts';
import { actWhat, approvedText, layoutWords, originWords, ownerWords } from '#src/operations/story-words.ts';
import { shellWord } from '#src/shell-words.ts';
import { type Output, printable } from './output.ts';
import type { ShownMax } from './present-lists.ts';
import { presentAtLength, type RunPresentation } from './present-run.ts';
import { instantText, shorten, valueText } from './present-values.ts';

/** How many writes are printed without `--full`. */
export const changesShown = 20;

type ShownRecord = Pick<
  RunRecord,
  | 'id'
  | 'feed'
  | 'kind'
  | 'options'
  | 'createdAtMs'
  | 'startedAtMs'
  | 'finishedAtMs'
  | 'mapping'
  | 'approvals'
  | 'shape'
  | 'counts'
>;

/**
 * All but what it changed: which run it is, by what it came to be, what was approved, what became of its rows.
 * @param isFull everything is printed, however much there is.
 */
export function presentStory(
  output: Output,
  run: RunPresentation & { readonly record: ShownRecord },
  isFull: boolean,
): string {
  const most = Number.POSITIVE_INFINITY;
  const max: ShownMax = isFull
    ? { problems: most, held: most, warnings: most, matches: most, rest: ' in the report' }
    : {
        problems: 20,
        held: 20,
        warnings: 50,
        matches: 1_000,
        rest: output.paste(`: patchbay runs show ${run.record.id} --full`),
      };
  return `${recordLines(output, run.record).join('\n')}\n${presentAtLength(output, run, max)}`;
}

function recordLines(output: Output, record: ShownRecord): readonly string[] {
  const { id, feed, createdAtMs, startedAtMs, finishedAtMs, approvals, options } = record;
  const received = instantText(isoInstant(createdAtMs));
  const layout = layoutWords(record);
  const facts = [`feed ${printable(feed)}`, `received ${received}`, ...(layout === null ? [] : [layout])];
  const origin = originOf(record);
  const came =
    origin === null ? [] : [originWords[origin] + (options.path === null ? '' : ` ${shellWord(options.path)}`)];
  const times = [
    ...(startedAtMs === null ? [] : [`started ${instantText(isoInstant(startedAtMs))}`]),
    ...(finishedAtMs === null ? [] : [`finished ${instantText(isoInstant(finishedAtMs))}`]),
  ];
  const about = [...(record.kind === 'fixFile' ? ['a fix-file'] : []), ...came, ...times];
  return [
    `run ${output.style('bold', id)}, ${facts.join(', ')}`,
    ...(about.length === 0 ? [] : [`  ${about.join(', ')}`]),
    ...(options.acceptReason === null ? [] : [`  reason given with the import: ${printable(options.acceptReason)}`]),
    ...approvals.map(({ figures, reason, atMs }) => {
      const why = reason === null ? '' : `: ${printable(reason)}`;
      return `  approved ${instantText(isoInstant(atMs))} ${figures.map(approvedText).join(', ')}${why}`;
    }),
  ];
}

/** The heading of what a run changed; null where there is nothing to say. */
export function changesHeading(
  output: Output,
  { summary, changesKnown }: Pick<RunStory, 'summary' | 'changesKnown'>,
): string | null {
  const { created, updated } = summary;
  const done = [
    ...(created > 0 ? [`${counted(created, 'contact')} created`] : []),
    ...(updated > 0 ? [`${counted(updated, 'contact')} changed`] : []),
  ].join(', ');
  if (changesKnown === 'none') return `  ${done}; the journal has no write of this run`;
  if (changesKnown === 'gone') return output.paste(`  ${done}; from what to what is no longer kept`);
  return done === '' ? null : `  ${done}:`;
}

/**
 * A write in lines: `c-1: role Lead → Buyer`. Of a contact that was made one line, with its values.
 * @param isFull values are not cut.
 */
export function changeLines(
  { values }: Output,
  { key, kind, changes }: ContactChange,
  isFull: boolean,
): readonly string[] {
  const who = values ? `    ${printable(key)}: ` : '    ';
  const text = (value: JournalChange['to']): string =>
    isFull ? printable(fullText(value)) : printable(valueText(value));
  if (kind === 'create') {
    const made = changes.map(({ field, to }) =>
      values ? `${printable(field)} ${text(to)}` : fieldWithoutValue(field),
    );
    const line = made.join(', ');
    return [`${who}created, ${isFull ? line : shorten(line, createdCharsMax)}`];
  }
  const linked = kind === 'link' ? [`${who}linked to this key`] : [];
  return [
    ...linked,
    ...changes.map(({ field, from, to, why }) => {
      if (why === 'adopted' || why === 'givenBack')
        return `${who}${values ? `${printable(field)} ${text(to)}` : fieldWithoutValue(field)}: ${ownerWords[why]}`;
      const label = why === 'relabelled' ? ' label' : '';
      const unseen = why === 'landed' ? ' (no answer came; a later read showed it)' : '';
      if (!values) return `${who}${fieldWithoutValue(field)}${label} ${why}`;
      return `${who}${printable(field)}${label} ${text(from)} → ${text(to)}${unseen}`;
    }),
  ];
}

const createdCharsMax = 160;

function fullText(value: JournalChange['to']): string {
  if (value === null) return '–';
  return Array.isArray(value) ? value.join('; ') : String(value);
}

/** An act in a line: `2026-11-22 23:35:07Z  ann  approved run …: the new mail domain`. */
export function actLine({ style }: Output, act: ActRecord): string {
  const { atMs, who, by, reason } = act;
  const why = reason === null ? '' : `: ${printable(reason)}`;
  return `${style('gray', instantText(isoInstant(atMs)))}  ${style('cyan', printable(who))}${places[by]}  ${printable(actWhat(act))}${why}`;
}

const places: Readonly<Record<Actor['by'], string>> = { command: '', page: ' (page)', queue: '' };
