/** vCards from the dropped file to the contact, and back through the fix-file (`docs/mapping.md`, "vCard"). */
import { describe, expect, it } from 'vitest';
import { expectCounts, mapping, openRunsBench } from './support/runs-bench.ts';

const card = (...lines: string[]): string => ['BEGIN:VCARD', 'VERSION:3.0', ...lines, 'END:VCARD', ''].join('\r\n');
const byUid = mapping({
  key: 'UID',
  fields: { firstName: 'FN' },
  phones: [{ column: 'TEL', label: 'phone', optional: true }],
  emails: [{ column: 'EMAIL', label: 'email', optional: true }],
});

describe('the fix-file of vCards', () => {
  it('is lines of JSON, names the line of the card, and goes in again by the same mapping', async () => {
    const bench = await openRunsBench({ mapping: byUid });
    const text = [
      card('UID:a', 'FN:Mara', 'TEL;type=CELL:+1 415 555 0101'),
      card('UID:b', 'FN:Nils', 'item1.TEL:call me', 'item1.X-ABLabel:Praxis', 'EMAIL:nils@example.com'),
    ].join('');
    const run = await bench.import('people.vcf', text);
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
    const fix = await bench.fixFile(run);
    expect(fix.path).toMatch(/people\.ndjson$/);
    expect(JSON.parse(fix.text)).toMatchObject({ UID: 'b', TEL: [{ name: 'Praxis', value: 'call me' }], _line: 7 });
    expectCounts(await bench.import('again.ndjson', fix.text), { rows: 1, dead: 1 });
    expectCounts(await bench.import('mended.ndjson', fix.text.replace('call me', '+1 415 555 0102')), {
      rows: 1,
      created: 1,
    });
    expect((await bench.world.contactOf('b')).defaultFields).toMatchObject({
      firstName: 'Nils',
      phoneNumbers: [{ name: 'Praxis', value: '+14155550102' }],
      emails: [{ name: 'email', value: 'nils@example.com' }],
    });
  });

  it('does not let a card in that never ended, until somebody says that it is complete', async () => {
    const bench = await openRunsBench({ mapping: byUid });
    const open = 'BEGIN:VCARD\r\nVERSION:3.0\r\nUID:a\r\nFN:Mara\r\n';
    const run = await bench.import('people.vcf', `${open}${card('UID:b', 'FN:Nils')}FN:lost\r\nEND:VCARD\r\n`);
    expectCounts(run, { rows: 3, created: 1, dead: 2 });
    const { text } = await bench.fixFile(run);
    expectCounts(await bench.import('again.ndjson', text), { rows: 2, dead: 2 });
    expect((await bench.letters()).map(({ code }) => code).toSorted()).toEqual(['cardNeverBegins', 'cardNeverEnds']);
    const said = text.replace('"_code":"cardNeverEnds"', '"_code":""');
    expectCounts(await bench.import('said.ndjson', said), { rows: 2, created: 1, dead: 1 });
  });
});
