/** The warnings of a run for people: as notes about the whole file, by kind, or one by one. */

import { hintsOnce } from '#src/contacts/outcome.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { withoutValues } from '#src/operations/run-document.ts';
import type { RunDetail } from '#src/operations/runs.ts';
import { notedIn } from '#src/runs/column-warnings.ts';
import type { RunSummary } from '#src/runs/report.ts';
import { lineText, placeText } from '#src/sources/row.ts';
import { type Output, printable } from './output.ts';
import { hintText, indent, moreLine, type Shown } from './present-lists.ts';
import { shorten } from './present-values.ts';

/** Lines and parts of a file that are no contacts. Nothing of a contact is lost with them: a note is enough. */
const noteCodes: ReadonlySet<string> = new Set([
  ...[
    'preambleLine',
    'totalLine',
    'ruleLine',
    'copyEnd',
    'pagesRead',
    'footerLine',
    'headerRepeated',
    'groupLeftOut',
    'mediaLeftOut',
    'readAsVcf',
  ],
]);

export function isNoteOnly({ notes }: Pick<RunDetail, 'notes'>): (event: RunEvent) => boolean {
  const noted = new Set(notes);
  return ({ kind, key, code, message }) =>
    kind === 'warning' && key === null && noteCodes.has(code) && noted.has(message);
}

/** Of warnings about the file as a whole, whose messages hold no values. */
export function valuesByMessage(outcomes: readonly RunEvent[]): ReadonlyMap<string, string> {
  const warnings = outcomes.filter(({ kind, key }) => kind === 'warning' && key === null);
  return new Map(warnings.flatMap(({ message, value = null }) => (value === null ? [] : [[message, value] as const])));
}

const warningKindsShown = 5;

/** One line for each kind of warning that is no note, the most frequent first. */
function warningKinds({ outcomes, notes }: Pick<RunDetail, 'outcomes' | 'notes'>, max: Shown): readonly string[] {
  const isNoted = notedIn(notes);
  const ofRows = outcomes.filter((event) => event.kind === 'warning' && !isNoted(event));
  const least = max.isCut ? 'at least ' : '';
  const kinds = [...Map.groupBy(ofRows, ({ field, message }) => JSON.stringify([field, message])).values()];
  const lines = kinds
    .sort((left, right) => right.length - left.length)
    .flatMap((same) => {
      const [first] = same;
      if (first === undefined) return [];
      const field = first.field === null ? '' : `${printable(first.field)}: `;
      return [`    ${field}${printable(first.message)}${placesText(lineText(first), same.length - 1, least)}`];
    });
  const more = lines.length - warningKindsShown;
  return more > 0 ? [...lines.slice(0, warningKindsShown), `    … and ${counted(more, 'more kind')}`] : lines;
}

/** ` (line 17, and 3 more)`. */
function placesText(first: readonly string[], more: number, least: string): string {
  const parts = [...first, ...(more > 0 ? [`${first.length > 0 ? 'and ' : ''}${least}${more} more`] : [])];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** @param listed those to list one by one; none, where the kinds alone are shown. */
export function warningLines(
  output: Output,
  summary: RunSummary,
  listed: readonly RunEvent[],
  run: Pick<RunDetail, 'outcomes' | 'notes'>,
  max: Shown,
): readonly string[] {
  const count = counted(summary.warnings, 'warning');
  if (listed.length === 0) {
    return [output.paste(`  ${count}: see patchbay runs show ${summary.run}`), ...warningKinds(run, max)];
  }
  const shown = listed.slice(0, max.warnings).map((warning) => (output.values ? warning : withoutValues(warning)));
  const hints = hintsOnce(shown);
  const rows = shown.map((warning) => {
    const { field, value, code, message, ...place } = warning;
    const hint = hints.get(warning);
    return [
      placeText(place),
      field ?? '',
      ...(output.values ? [shorten(value ?? '')] : []),
      code,
      hint === undefined ? message : `${message}. ${hintText(output, hint)}`,
    ];
  });
  const head = ['line', 'column', ...(output.values ? ['value'] : []), 'code', 'what was done'];
  const counts = { count: summary.warnings, listed: listed.length, shown: rows.length };
  return [`  ${count}:`, indent(output.table(head, rows)), ...moreLine('  ', counts, max)];
}
