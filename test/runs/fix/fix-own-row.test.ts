/** Rows that share a dead letter: each is restored from its own cells, not from those of the other one (`docs/rules.md`, "Dead letters"). */
import { describe, expect, it } from 'vitest';
import { csv, expectCounts, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const header = 'externalId,firstName,lastName,company,phone mobile';
const pair = ['00501,Łukasz,Ames,MARCH1,+14152000501', '00501,Bert,Bode,3/4,+14152000502'];

/** As a German spreadsheet saves the fix-file of the pair: these rows, without the others. */
async function savedBySpreadsheet(bench: RunsBench, rows: readonly string[], content = csv(pair, header)) {
  const { text } = await bench.fixFile(await bench.import('pair.csv', content));
  const id = /,(d[0-9a-f]{12}),/.exec(text)?.[1] ?? '';
  const lines = [header.replaceAll(',', ';'), ...rows].map((row, index) =>
    index === 0 ? `${row};_id;_line;_code` : row,
  );
  return lines.map((line) => `${line.replace('ID', id)}\r\n`).join('');
}

const ofLukasz = '501;?ukasz;Ames;01. Mrz;14152000501;ID;2;duplicateKey';
const ofBert = '501;Bert;Bode;03. Apr;14152000502;ID;3;duplicateKey';

async function contactAs(bench: RunsBench) {
  const { firstName, lastName, company, phoneNumbers } = (await bench.world.contactOf('00501')).defaultFields;
  return [firstName, lastName, company, phoneNumbers?.[0]?.value];
}

describe('the row of a pair that is kept, in a fix-file that a spreadsheet has saved', () => {
  it.each([
    ['the first', ofLukasz, ['Łukasz', 'Ames', 'MARCH1', '+14152000501']],
    ['the last', ofBert, ['Bert', 'Bode', '3/4', '+14152000502']],
  ])('is restored from its own cells: %s', async (_, row, expected) => {
    const bench = await openRunsBench();
    const run = await bench.import('saved.csv', await savedBySpreadsheet(bench, [row]));
    expectCounts(run, { rows: 1, created: 1 });
    expect(await contactAs(bench)).toEqual(expected);
  });

  it('is restored also where both are rejected once more, and where its line is lost', async () => {
    const bench = await openRunsBench();
    const both = await bench.import('saved.csv', await savedBySpreadsheet(bench, [ofLukasz, ofBert]));
    expectCounts(both, { rows: 2, dead: 2 });
    const { text } = await bench.fixFile(both);
    expect(text).toContain('00501;Łukasz;Ames;MARCH1;+14152000501;');
    expect(text).toContain('00501;Bert;Bode;3/4;+14152000502;');
    const other = await openRunsBench();
    const run = await other.import('saved.csv', await savedBySpreadsheet(other, [ofLukasz.replace(';2;', ';;')]));
    expectCounts(run, { rows: 1, created: 1 });
    expect(await contactAs(other)).toEqual(['Łukasz', 'Ames', 'MARCH1', '+14152000501']);
  });

  it('keeps what was corrected in it', async () => {
    const bench = await openRunsBench();
    const corrected = ofLukasz.replace('Ames', 'Amos');
    expectCounts(await bench.import('saved.csv', await savedBySpreadsheet(bench, [corrected])), {
      rows: 1,
      created: 1,
    });
    expect(await contactAs(bench)).toEqual(['Łukasz', 'Amos', 'MARCH1', '+14152000501']);
  });

  it('is restored in a fix-file of the night before, after a later file had the pair in other lines', async () => {
    const bench = await openRunsBench();
    const old = await savedBySpreadsheet(bench, [ofLukasz]);
    await bench.import('next.csv', csv(['c-9,Ann,Bell,Acme,+14152000509', ...pair], header));
    expectCounts(await bench.import('saved.csv', old), { rows: 1, created: 1 });
    expect(await contactAs(bench)).toEqual(['Łukasz', 'Ames', 'MARCH1', '+14152000501']);
  });

  it('is that of the newest file, also where an older one had another row of its key in the same line', async () => {
    const bench = await openRunsBench();
    const columns = 'externalId,firstName,role,phone';
    await bench.import('a.csv', csv(['k2,Ben,00501,', 'k2,Bob,x,'], columns));
    const run = await bench.import('b.csv', csv(['k2,Ben,501,', 'k2,Bob,y,'], columns));
    const rows = (await bench.fixFile(run)).text.split('\r\n').filter((line) => !line.includes(',Bob,'));
    expectCounts(await bench.import('c.csv', rows.join('\r\n')), { rows: 1, created: 1 });
    expect((await bench.world.contactOf('k2')).defaultFields.role).toBe('501');
  });

  it('is restored after the last of them was tried again alone, as it is', async () => {
    const bench = await openRunsBench();
    const old = await savedBySpreadsheet(bench, [ofLukasz]);
    const [letter] = await bench.letters();
    const again = csv([`${pair[1]},${letter?.id},3,duplicateKey (one of several)`], `${header},_id,_line,_code`);
    expectCounts(await bench.import('again.csv', again), { rows: 1, dead: 1 });
    expect((await bench.letters())[0]?.others).toHaveLength(1);
    expectCounts(await bench.import('saved.csv', old), { rows: 1, created: 1 });
    expect(await contactAs(bench)).toEqual(['Łukasz', 'Ames', 'MARCH1', '+14152000501']);
  });

  it('is rejected with a word on the spreadsheet where its cells are not known any more', async () => {
    const bench = await openRunsBench();
    const old = await savedBySpreadsheet(bench, [ofLukasz]);
    // The letter is met again, by more rows than it keeps.
    const others = Array.from({ length: 12 }, (_, index) => `00501,Cleo${index},Cole,4/5,+1415200${5100 + index}`);
    await bench.import('next.csv', csv(others, header));
    const run = await bench.import('saved.csv', old.replace(';2;', ';;'));
    expectCounts(run, { rows: 1, dead: 1 });
    const [problem] = (await bench.report(run)).problems;
    expect(problem).toMatchObject({ code: 'spreadsheetChanged', field: 'externalId', value: '501' });
    expect(problem.hint).toContain('that no spreadsheet has saved');
    expect(await bench.world.contacts()).toEqual([]);
  });
});
