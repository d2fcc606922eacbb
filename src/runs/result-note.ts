/** The lines beside an archived file that say what became of it, and what was warned of. Pure. */
import type { RunRecord } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import type { RunSummary } from './summary.ts';

/** The report has all of them. */
export const warningsNotedMax = 50;

/** @param warnings the first of them, `warningsNotedMax` at most. */
export function resultNote(run: RunRecord, summary: RunSummary, warnings: readonly RunEvent[]): string {
  const { rows, created, updated, unchanged, skipped, dead, pending } = summary;
  const lines = [
    `file      ${run.fileName}`,
    `run       ${run.id} (feed ${run.feed}), into ${summary.service}`,
    `state     ${run.state}${run.reason === null ? '' : `: ${run.reason.message}`}`,
    `rows      ${rows}${pending > 0 ? `, ${pending} not written` : ''}`,
    `created   ${created}`,
    `updated   ${updated} (${summary.removedValues} values removed, ${summary.heldFields} fields held)`,
    `unchanged ${unchanged}, skipped ${skipped}`,
    `dead      ${dead}${summary.fixFile === null ? '' : `: mend ${summary.fixFile} and drop it in again`}`,
    `notes     ${run.notes.length === 0 ? 'none' : run.notes.join('; ')}`,
    `report    ${summary.report}`,
  ];
  if (run.reason?.hint) lines.push(`next      ${run.reason.hint}`);
  if (summary.warnings > 0) lines.push(`warnings  ${summary.warnings}`, ...warnings.map(warningLine));
  const more = summary.warnings - warnings.length;
  if (more > 0) lines.push(`          … and ${more} more in the report`);
  return `${lines.map(oneLine).join('\n')}\n`;
}

function warningLine({ line, field, value, message }: RunEvent): string {
  const cell = value === null || value === undefined ? '' : ` ${JSON.stringify(value)}`;
  return `          line ${line}${field === null ? '' : `, ${field}`}${cell}: ${message}`;
}

/** Names of files and folders may hold line breaks and worse; several problems come one a line. */
function oneLine(text: string): string {
  return text.replaceAll('\n', '; ').replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');
}
