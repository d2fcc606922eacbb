/** Each known export is recognised by its own signature alone (`docs/exports.md`). */
import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadPresets } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { type FileHead, recognise } from '#src/mapping/recognise.ts';
import type { Row } from '#src/sources/row.ts';
import { useTempFolder } from '#test/sources/temp-files.ts';
import { namesOf, readSample, recogniseSample, samplePath, samples, sampleText } from './support.ts';

const folder = useTempFolder();
const tables = samples.filter(([name]) => name.endsWith('.csv'));
let presets: readonly Mapping[] = [];
beforeAll(async () => {
  presets = await loadPresets();
});

test('every sample is named here, and every preset has one', () => {
  const there = readdirSync(samplePath(''));
  expect(there.toSorted()).toEqual(samples.map(([name]) => name).toSorted());
  expect(presets.map(({ name }) => name).toSorted()).toEqual([...new Set(samples.map(([, name]) => name))].toSorted());
});

test('every preset has the name of its file, a title and fixtures, and needs no column but the key’s', () => {
  for (const { name, title, fixtures = [], optional } of presets) {
    expect([name, title !== undefined, fixtures.length > 0, optional]).toEqual([name, true, true, true]);
  }
});

test.each(samples)('%s is recognised as %s, and as nothing else', async (name, preset) => {
  expect(await recogniseSample(name)).toEqual([preset]);
});

test.each(tables)(
  '%s is recognised as %s with a byte order mark, semicolons, other case and further columns',
  async (name, preset) => {
    const text = name === 'outlook.csv' ? (await readSample(name)).head.columns?.join(',') : await sampleText(name);
    const changed = `\ufeff${text?.replace(/^\ufeff/, '')}`;
    expect(await recogniseSample(name, await folder.write(name, changed))).toEqual([preset]);
    const { head } = await readSample(name);
    const columns = ['Score', ...(head.columns ?? []).map((column) => ` ${column.toUpperCase()} `), 'Sc\u00f6re 2'];
    const rows = head.sample.map((row) => (row.kind === 'cells' ? wider(row.cells) : []));
    const semicolons = [columns, ...rows].map((cells) => cells.map(quoted).join(';')).join('\r\n');
    expect(await recogniseSample(name, await folder.write(name, semicolons))).toEqual([preset]);
  },
);

/** One cell in front and one behind, but not in a footer. */
function wider(cells: readonly string[]): readonly string[] {
  return cells.filter((cell) => cell !== '').length > 1 ? ['', ...cells, ''] : cells;
}

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

describe('is not recognised without', () => {
  test.each(tables)('any one of the headers of %s', async (name, preset) => {
    const { head } = await readSample(name);
    const mapping = presets.find((one) => one.name === preset);
    const own = (mapping?.recognise ?? []).filter(
      (way) => namesOf(recognise(head, [{ ...one(mapping), recognise: [way] }]))[0] === preset,
    );
    expect(own.length).toBeGreaterThan(0);
    for (const way of own) {
      for (const missing of way.headers ?? []) {
        const found = recognise(withoutColumn(head, missing), [{ ...one(mapping), recognise: [way] }]);
        expect([missing, found.kind]).toEqual([missing, 'unknown']);
      }
    }
  });
});

function one(mapping: Mapping | undefined): Mapping {
  if (mapping === undefined) throw new Error('there is no such preset');
  return mapping;
}

function withoutColumn(head: FileHead, missing: string): FileHead {
  const gone = (head.columns ?? []).findIndex((column) => column.trim().toLowerCase() === missing.toLowerCase());
  const without = (cells: readonly string[]) => cells.filter((_, index) => index !== gone);
  const columns = without(head.columns ?? []);
  const sample = head.sample.map(
    (row): Row => (row.kind === 'cells' ? { ...row, columns, cells: without(row.cells) } : row),
  );
  return { ...head, columns, sample };
}

test('exports that look like a known one and are none', () => {
  const none = (columns: readonly string[]) => namesOf(recognise({ columns, format: 'csv', sample: [] }, presets));
  // HubSpot companies, Zoho deals, Salesforce accounts, an Airtable grid, macOS Contacts.
  expect(none(['Record ID', 'Company name', 'Phone Number'])).toEqual(['unknown']);
  expect(none(['Record Id', 'Deal Name', 'Account Name.id', 'Account Name'])).toEqual(['unknown']);
  expect(none(['Id', 'Name', 'Phone', 'BillingStreet'])).toEqual(['unknown']);
  expect(none(['Name', 'Email', 'Phone', 'Attachments'])).toEqual(['unknown']);
  expect(none(['First name', 'Last name', 'Phone : mobile', 'Email : work'])).toEqual(['unknown']);
});
