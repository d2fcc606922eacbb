/**
 * What one row costs on its way to a fingerprint: `node test/bench/mapping.ts [ROWS]` (200,000 without), in microseconds of
 * processor time of this thread, the least of several passes: other programs of the machine do not count. Eight columns with
 * two phones each, in the generic layout. It ends with 1 where mapping a row costs more than its limit, and with 2 where the
 * argument cannot be meant.
 */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { type DesiredContact, fingerprint } from '#src/contacts/desired.ts';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { readPhone } from '#src/mapping/phone-cell.ts';
import type { CellsRow } from '#src/sources/row.ts';
import { cellsOfRow, exportColumns, exportCountry } from './import/export-file.ts';

const usMax = 28;
const passes = 5;
/** As staging has them at hand. */
const rowsPerSlice = 500;

const text = process.argv[2] ?? '200000';
if (!/^\d{3,7}$/.test(text) || process.argv.length > 3) {
  console.error('usage: node test/bench/mapping.ts [ROWS]');
  process.exit(2);
}
const rowCount = Number(text);
const phoneColumns = exportColumns.flatMap((name, index) => (name.startsWith('phone') ? [index] : []));
const context = { sourceLabel: 'crm', customFields: [], defaultCountry: exportCountry, onBlank: null };
const { mapRow } = compileMapping(null, { columns: exportColumns }, context);

const stages: Readonly<Record<string, (rows: readonly CellsRow[]) => void>> = {
  'phones by libphonenumber-js': (rows) => {
    for (const { cells } of rows)
      for (const column of phoneColumns)
        parsePhoneNumberFromString(cells[column] ?? '', { defaultCountry: exportCountry, extract: false })?.isValid();
  },
  'phones as cells are read': (rows) => {
    for (const { cells } of rows) for (const column of phoneColumns) readPhone(cells[column] ?? '', exportCountry);
  },
  'the row, mapped': (rows) => {
    for (const row of rows) desiredOf(row);
  },
};

const least = new Map<string, number>();
const total = { ms: 0 };
for (let pass = 0; pass < passes; pass += 1) {
  const spent = new Map<string, number>();
  for (let first = 0; first < rowCount; first += rowsPerSlice) {
    const rows = Array.from({ length: rowsPerSlice }, (_, index) => rowAt(first + index));
    for (const [name, work] of Object.entries(stages)) add(spent, name, () => work(rows));
    const desired = rows.map(desiredOf);
    add(spent, 'the fingerprint', () => desired.forEach(fingerprint));
  }
  for (const [name, ms] of spent) least.set(name, Math.min(least.get(name) ?? Number.POSITIVE_INFINITY, ms));
}
for (const [name, ms] of least) console.log(`${name.padEnd(30)} ${usOf(ms).toFixed(1).padStart(6)} µs per row`);
total.ms = (least.get('the row, mapped') ?? 0) + (least.get('the fingerprint') ?? 0);
console.log(
  `${'mapped, with its fingerprint'.padEnd(30)} ${usOf(total.ms).toFixed(1).padStart(6)} µs per row (≤ ${usMax})`,
);
if (usOf(total.ms) > usMax) process.exitCode = 1;

function rowAt(index: number): CellsRow {
  return { kind: 'cells', line: index + 2, record: index + 1, columns: exportColumns, cells: cellsOfRow(index) };
}

function desiredOf(row: CellsRow): DesiredContact {
  const mapped = mapRow(row);
  if (mapped.kind !== 'desired') throw new Error(`row ${row.line} is rejected: ${mapped.problems[0]?.message}`);
  return mapped.desired;
}

function add(spent: Map<string, number>, name: string, work: () => void): void {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  spent.set(name, (spent.get(name) ?? 0) + (user + system) / 1_000);
}

function usOf(ms: number): number {
  return (ms * 1_000) / rowCount;
}
