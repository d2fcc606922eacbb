/** Columns with contact data that nothing maps stop the first file of a feed that has them (`rules.md`, "Guards"). */
import { describe, expect, it } from 'vitest';
import { csv, expectCounts, mapping, openRunsBench } from './support/runs-bench.ts';

const header = 'externalId,firstName,Telephone,Mobile,Job Title';
const rows = ['1,Ada,+14155550101,+14155550102,Owner', '2,Ben,,,'];

describe('a phone, e-mail or name column that nothing maps', () => {
  it('stops the first file with it, before anything is sent, with what to do', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', csv(rows, header)));
    expect(run).toMatchObject({
      state: 'stopped',
      reason: {
        code: 'guardUnmapped',
        message:
          'stopped before the first write: the columns "Telephone", "Mobile" are not mapped, although their names suggest contact data',
        hint: expect.stringMatching(
          /^Rename the columns you need, "Telephone" to "phone", "Mobile" to "phone mobile", or use a mapping \(--mapping\); a mapping can also say ignore: \["Telephone", "Mobile"\]\. .*--accept/,
        ),
      },
    });
    expect(await bench.world.contacts()).toEqual([]);
  });

  it('names the lines for the mapping of the feed, which may take it in or ignore it', async () => {
    const bench = await openRunsBench();
    const by = (more: object) => ({ feed: 'crm', mapping: mapping({ fields: { firstName: 'firstName' }, ...more }) });
    const run = await bench.stage(await bench.submit('a.csv', csv(rows, header), by({})));
    expect(run.reason?.hint).toContain(
      'Add the columns you need to mapping "test", for example phones: [{ column: "Telephone", label: phone }] and phones: [{ column: "Mobile", label: mobile }]; ignore the others with ignore: ["Telephone", "Mobile"].',
    );
    const phones = [{ column: 'Mobile', label: 'mobile' }];
    const done = await bench.import('b.csv', csv(rows, header), by({ phones, ignore: ['telephone'] }));
    expect(done.state).toBe('done');
    expect(done.notes).toContain('ignored columns (not in the mapping): Job Title');
  });

  it('passes for good once it was accepted, until another one comes', async () => {
    const bench = await openRunsBench();
    const accepted = await bench.import('a.csv', csv(rows, header), { options: { accept: true } });
    expectCounts(accepted, { rows: 2, created: 2 });
    expect((await bench.import('b.csv', csv([...rows, '3,Cy,x,y,z'], header))).state).toBe('done');
    const other = await bench.stage(
      await bench.submit('c.csv', csv(['4,Dy,d@example.com'], 'externalId,firstName,Mail')),
    );
    expect(other.reason?.code).toBe('guardUnmapped');
    const elsewhere = await bench.stage(await bench.submit('d.csv', csv(rows, header), { feed: 'shop' }));
    expect(elsewhere.reason?.code).toBe('guardUnmapped');
  });

  it('does not matter while it is blank in every row, nor does a full name beside first and last', async () => {
    const bench = await openRunsBench();
    expect((await bench.import('a.csv', csv(['1,Ada,,N/A,'], header))).state).toBe('done');
    const names = 'externalId,firstName,lastName,Full Name';
    expect((await bench.import('b.csv', csv(['2,Ben,Bo,Ben Bo'], names))).state).toBe('done');
    const run = await bench.stage(await bench.submit('c.csv', csv(['3,Cy,+14155550101'], 'externalId,Name,phone')));
    expect(run.reason?.message).toContain('the column "Name" is not mapped, although its name suggests contact data');
  });

  it('is a member of JSON too, with a mapping and without', async () => {
    const bench = await openRunsBench();
    const text = JSON.stringify([
      { externalId: '1', firstName: 'Ada', role: 'x' },
      { externalId: '2', firstName: 'Ben', Handy: '1' },
    ]);
    expect((await bench.stage(await bench.submit('a.json', text))).reason?.code).toBe('guardUnmapped');
    const by = { feed: 'crm', mapping: mapping({}) };
    expect((await bench.stage(await bench.submit('a.json', text, by))).reason?.code).toBe('guardUnmapped');
    const ignoring = { feed: 'crm', mapping: mapping({ ignore: ['handy'] }) };
    const done = await bench.import('b.json', text, ignoring);
    expect([done.state, done.notes.join()]).toEqual(['done', expect.not.stringContaining('not in the mapping')]);
  });

  it('in the files that older versions accepted was accepted with them', async () => {
    const bench = await openRunsBench();
    const old = await bench.import('a.csv', csv(rows, header), { options: { accept: true } });
    const { format, columns, delimiter } = old.shape ?? { format: 'csv', columns: [], delimiter: ',' };
    await bench.ledger.runs.record(old.id, { shape: { format, columns, delimiter } });
    expect((await bench.import('b.csv', csv([...rows, '3,Cy,x,y,z'], header))).state).toBe('done');
  });
});
