/** The ten lines beside an archived file that say what became of it. Pure. */
import type { RunRecord } from '#src/ledger/run-record.ts';
import type { RunSummary } from './summary.ts';

export function resultNote(run: RunRecord, summary: RunSummary): string {
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
  return `${lines.map(oneLine).join('\n')}\n`;
}

/** Names of files and folders may hold line breaks and worse; several problems come one a line. */
function oneLine(text: string): string {
  return text.replaceAll('\n', '; ').replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');
}
