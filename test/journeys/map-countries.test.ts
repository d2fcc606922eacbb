/** A file in the generic layout whose countries contradict the default one: the mapping that its advice names reads all that the layout read. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

function openPlace() {
  const folder = tempFolder();
  const call = (...args: readonly string[]) => callPatchbay(args, {}, folder);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write('patchbay.yaml', 'mapping: { defaultCountry: DE }\n');
  return { call, write };
}

const people = (count: number, one: (index: number) => object): string =>
  JSON.stringify(Array.from({ length: count }, (_, index) => ({ externalId: `p-${index}`, ...one(index) })));

/** The command after `patchbay` in a message. */
const adviceOf = (stdout: string): readonly string[] =>
  (/let patchbay (map .*?) make a mapping/.exec(stdout)?.[1] ?? '').split(' ');

describe('a generic file whose countries contradict the default one', () => {
  it('keeps its custom fields in the mapping that is advised', async () => {
    const { call, write } = openPlace();
    const one = { firstName: 'Anna', country: 'Austria', custom: { newsletter: 'yes' } };
    write(
      'a.json',
      people(3, (index) => ({ ...one, phone: `0650 123456${index}`, 'custom.since': `202${index}` })),
    );
    const stopped = await call('import', '--sandbox', 'a.json');
    expect(stopped.code, stopped.stderr).toBe(5);
    const saved = await call('--json', ...adviceOf(stopped.stdout));
    const { mapping, preview, remarks } = JSON.parse(saved.stdout);
    expect(mapping.customFields, saved.stderr).toMatchObject([
      { column: 'custom.newsletter', key: 'newsletter' },
      { column: 'custom.since', key: 'since' },
    ]);
    const shown = JSON.stringify(preview);
    for (const value of ['newsletter', 'yes', 'since', '2021', '+436501234561']) expect(shown).toContain(value);
    expect(remarks.join()).not.toContain('which the generic layout reads');
  });

  it.each(['', '/crm'])(
    'is mapped by the name that it had, and read anew, where Patchbay has taken it: claimed%s',
    async (feed) => {
      const { call, write } = openPlace();
      const file = `data/claimed${feed}/20261127T154200Z-8fbb48__kunden-anna.json`;
      write(
        file,
        people(3, () => ({ firstName: 'Anna', phone: '0650 1234567', country: 'Austria' })),
      );
      const saved = await call('map', ...(feed === '' ? [] : ['--feed', 'crm']), '--save', file);
      expect(saved.stdout, saved.stderr).toContain(
        feed === '' ? 'saved: data/sandbox/mappings/kunden-anna.yaml' : 'saved: data/import/crm/_mapping.yaml',
      );
      expect(saved.stdout).toMatch(/\nnext: patchbay runs restage 20261127T154200Z-8fbb48\n$/);
    },
  );

  it('is told what such a mapping would not read', async () => {
    const { call, write } = openPlace();
    const customFields = [{ key: 'newsletter', value: 'yes' }];
    write(
      'a.json',
      people(3, () => ({ firstName: 'Anna', phone: '0650 1234567', country: 'Austria', customFields })),
    );
    const note = 'not read "customFields", which the generic layout reads';
    expect((await call('map', 'a.json')).stdout).toContain(note);
    expect((await call('import', '--sandbox', 'a.json')).stdout).toContain(note);
    expect((await call('map', '--sandbox', '--save', 'a.json')).stdout).toContain(note);
  });

  it.each<[string, 'a.json' | 'a.csv', (index: number) => string | null, number, string]>([
    ['most rows name no country', 'a.json', (index) => (index < 95 ? 'Nowhere' : 'Austria'), 100, '(95 numbers)'],
    ['most rows of a table do so', 'a.csv', (index) => (index < 95 ? 'Nowhere' : 'Austria'), 100, '(95 numbers)'],
    ['it begins far down', 'a.json', (index) => (index < 2_990 ? null : 'Austria'), 3_000, ''],
    ['it begins far down in a table', 'a.csv', (index) => (index < 2_990 ? null : 'Austria'), 3_000, ''],
  ])('is given that mapping, too, where %s', async (_, file, countryOf, count, strays) => {
    const { call, write } = openPlace();
    const rows = Array.from({ length: count }, (_none, index) => ({
      ...{ externalId: `p-${index}`, firstName: 'Anna', phone: `0650 ${1_234_000 + index}` },
      ...(countryOf(index) === null ? {} : { country: countryOf(index) }),
    }));
    const header = ['externalId', 'firstName', 'phone', 'country'] as const;
    const line = (row: (typeof rows)[number]) => header.map((name) => row[name] ?? '').join(',');
    write(file, file === 'a.json' ? JSON.stringify(rows) : [header.join(','), ...rows.map(line), ''].join('\n'));
    const stopped = await call('import', '--sandbox', file);
    expect(stopped.code, stopped.stderr).toBe(5);
    expect(stopped.stdout).toContain(strays);
    const looked = await call('map', file);
    expect(looked.stdout).toContain(strays);
    expect(looked.stdout).toContain('the first import stops before it writes');
    expect(looked.stdout).toContain('"country" (country of phone numbers)');
    const saved = await call('--json', ...adviceOf(stopped.stdout));
    expect(saved.code, saved.stderr).toBe(0);
    expect(JSON.parse(saved.stdout).mapping.defaultCountry).toEqual({ column: 'country', default: 'DE' });
  });
});
