/** Held fields for people and scripts: both values, and where they come from. */
import { isoInstant } from '#src/clock.ts';
import type { HeldRecord } from '#src/ledger/contacts.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { type Output, printable } from './output.ts';

type FieldValue = HeldRecord['ours'];

/** What a run tells of a held field. Older reports hold no values. */
export type HeldLine = Pick<RunEvent, 'line' | 'key' | 'field' | 'file' | 'app'>;

const valueCharsMax = 40;

/** `held ls --json`; with `--no-values` without key and values. */
export function heldDocument({ feed, key, field, ours, theirs, runId, line, sinceMs }: HeldRecord, values: boolean) {
  const shown = values ? { key, field, file: ours, app: theirs } : { key: null, field, file: null, app: null };
  return { feed, ...shown, since: isoInstant(sinceMs), run: runId, line };
}

export function heldTable(output: Output, held: readonly HeldRecord[]): string {
  const rows = held.map(({ feed, key, field, ours, theirs, runId, line, sinceMs }) => [
    feed,
    ...(output.values ? [key] : []),
    field,
    ...(output.values ? [valueText(ours), valueText(theirs)] : []),
    isoInstant(sinceMs).replace('T', ' ').replace(/\..*$/, 'Z'),
    `${runId}:${line}`,
  ]);
  const ofValues = output.values ? ['file', 'app'] : [];
  return output.table(['feed', ...(output.values ? ['key'] : []), 'field', ...ofValues, 'since', 'run and line'], rows);
}

/** `line 2: role of demo-1: the file says Lead, the app Buyer`. */
export function heldSentence({ values }: Output, { line, key, field, file, app }: HeldLine): string {
  const where = `line ${line}: ${printable(field ?? '')}`;
  if (!values) return where;
  const ofKey = key === null ? where : `${where} of ${printable(key)}`;
  if (file === undefined || app === undefined) return ofKey;
  return `${ofKey}: the file says ${printable(valueText(file))}, the app ${printable(valueText(app))}`;
}

/** A value as one short line; a field without one is a dash. */
function valueText(value: FieldValue): string {
  if (value === null) return '–';
  const text = Array.isArray(value) ? value.join('; ') : String(value);
  return text.length > valueCharsMax ? `${text.slice(0, valueCharsMax - 1)}…` : text;
}
