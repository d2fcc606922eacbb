/** Headers are remembered: what a file's header has more, less or by another name than that of the file before. */
import { describe, expect, it, test } from 'vitest';
import { areOfOneKind, compareHeaders, describeHeaderChanges, nameInstead } from '#src/mapping/header-changes.ts';
import { mapping } from '../mapping/support.ts';
import { openRunsBench } from './support/runs-bench.ts';

const told = (before: string, now: string) => describeHeaderChanges(compareHeaders(before.split(','), now.split(',')));

describe('two headers compared', () => {
  test.each([
    ['nothing changed', 'a,b,c', 'a,b,c', null],
    ['nor by case, spaces or order', 'First Name,b,c', 'b,first_name,c', null],
    ['a new column', 'a,b', 'a,Mobile 2,b', 'new column "Mobile 2"'],
    ['a column that is gone', 'a,Fax,b', 'a,b', 'the column "Fax" is gone'],
    ['another name of the same meaning', 'a,Tel,b', 'a,Phone,b', '"Tel" is now called "Phone"'],
    ['of one field', 'a,Organisation', 'a,Company', '"Organisation" is now called "Company"'],
    ['another spelling', 'a,Customer no,b', 'a,Customer nr,b', '"Customer no" is now called "Customer nr"'],
    [
      'spelt alike at the other end of the file',
      'Note,a,b',
      'a,b,Notes',
      'new column "Notes"; the column "Note" is gone',
    ],
    [
      'numbered columns are not renamed',
      'a,Phone 1',
      'a,Phone 2',
      'new column "Phone 2"; the column "Phone 1" is gone',
    ],
    [
      'two candidates are none',
      'a,Tel,b',
      'a,Phone,Telephone,b',
      'new columns "Phone", "Telephone"; the column "Tel" is gone',
    ],
    [
      'different things in one place',
      'a,Birthday,b',
      'a,Country,b',
      'new column "Country"; the column "Birthday" is gone',
    ],
    ['two renamed', 'Tel,Mail', 'Phone,Courriel', '"Tel" is now called "Phone", "Mail" is now called "Courriel"'],
    ['empty headers and those of a fix-file do not count', 'a,,_id', 'a,', null],
    ['a name that occurs twice', 'a,x,x', 'a', 'the column "x" is gone'],
    ['__proto__', 'a', 'a,__proto__', 'new column "__proto__"'],
  ])('%s', (_, before, now, expected) => {
    expect(told(before, now)).toBe(expected === null ? null : `since the last file: ${expected}`);
  });

  test('the same meaning counts for more than the spelling', () => {
    expect(told('a,Handy,b', 'a,Mobilnummer,Land,b')).toBe(
      'since the last file: new column "Land"; "Handy" is now called "Mobilnummer"',
    );
    expect(nameInstead('Handy', ['Land', 'Mobilnummer'])).toBe('Mobilnummer');
    expect(nameInstead('lastname', ['Notes', 'last nam'])).toBe('last nam');
    expect(nameInstead('Handy', ['Notes'])).toBeNull();
  });

  test('lists ten of each kind, and says how many more there are', () => {
    const many = Array.from({ length: 500 }, (_, index) => `column ${index}`);
    expect(told('a', ['a', ...many].join(','))).toMatch(/"column 9" and 490 more$/);
    expect(told(many.join(','), many.map((name) => `${name} x`).join(','))).toMatch(/and 490 more$/);
  });

  test('are of one kind if they share half of their columns', () => {
    expect(areOfOneKind(['a', 'b', 'c', 'd'], ['A', 'b', 'x', 'y'])).toBe(true);
    expect(areOfOneKind(['a', 'b', 'c', 'd'], ['a', 'x', 'y', 'z'])).toBe(false);
  });
});

describe('a run says what changed since the last accepted file of its feed', () => {
  const row = (...names: readonly string[]) =>
    `externalId,firstName,${names.join(',')}\n1,Ada,${names.map(() => '')}\n`;

  it('in its notes, for a named feed and for main', async () => {
    const bench = await openRunsBench();
    for (const feed of ['crm', 'main']) {
      const first = await bench.import('a.csv', row('Remark', 'Notes'), { feed });
      expect(first.notes.join()).not.toContain('since the last file');
      const second = await bench.import('b.csv', row('Remarks', 'Notes', 'Mobile 2'), { feed });
      expect(second.notes).toContain('since the last file: new column "Mobile 2"; "Remark" is now called "Remarks"');
      const third = await bench.import('c.csv', row('Remarks', 'Notes', 'Mobile 2', ''), { feed });
      expect(third.notes.join()).not.toContain('since the last file');
    }
  });

  it('but not beside a file of another kind in main, a file that was refused, or JSON', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', row('Tel', 'Notes'));
    const other = await bench.import('b.csv', 'externalId,company,role,x,y\n2,ACME,Owner,,\n');
    expect(other.notes.join()).not.toContain('since the last file');
    await bench.import('c.csv', 'nothing\nx\n', { feed: 'crm' });
    const json = await bench.import('d.json', '[{"externalId":"3","firstName":"Cy"}]', { feed: 'crm' });
    expect(json.notes.join()).not.toContain('since the last file');
    const next = await bench.import('e.csv', row('Notes'), { feed: 'crm' });
    expect(next.notes.join()).not.toContain('since the last file');
  });

  it('with a mapping, too, and beside the guard that misses the column', async () => {
    const bench = await openRunsBench();
    const by = {
      feed: 'crm',
      mapping: mapping({ key: 'externalId', fields: { firstName: 'firstName', role: 'Job' } }),
    };
    await bench.import('a.csv', 'externalId,firstName,Job\n1,Ada,Owner\n', by);
    const run = await bench.stage(await bench.submit('b.csv', 'externalId,firstName,Jobs\n1,Ada,Owner\n', by));
    expect(run.reason?.code).toBe('guardColumns');
    expect(run.notes).toContain('since the last file: "Job" is now called "Jobs"');
  });
});
