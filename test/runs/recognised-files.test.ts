/** Files whose layout nobody named: recognised, used and recorded, or refused with what to type. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import { findMapping } from '#src/feeds/feeds.ts';
import { loadPresets } from '#src/mapping/load-mapping.ts';
import { openRunFile } from '#src/runs/open-file.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const sample = (name: string): Promise<string> =>
  readFile(new URL(`../../config/samples/exports/${name}`, import.meta.url), 'utf8');
const hubspot = (...rows: readonly string[]): string => csv(rows, 'Record ID,First Name,Email,Phone Number');
const noteOf = (run: { readonly notes: readonly string[] }): string | undefined => run.notes[0];

describe('a file in the generic layout', () => {
  it('is read without the presets, be it a table or JSON; another file needs them', async () => {
    const bench = await openRunsBench();
    let askedCount = 0;
    const open = async (name: string, content: string) => {
      const file = await openRunFile(await bench.submit(name, content), () => {
        askedCount += 1;
        return loadPresets();
      });
      await file.source.close();
      return file;
    };
    await open('people.csv', csv(['1,Ann'], 'externalId,firstName'));
    await open('people.json', '[{"externalId":"2","firstName":"Bea"}]');
    expect(askedCount).toBe(0);
    const { mapping: found } = await open('export.csv', hubspot('7,Cy,c@example.com,+14155550100'));
    expect(found?.name).toBe('hubspot');
    expect(askedCount).toBe(1);
  });
});

describe('a known export', () => {
  it('is used, named in the notes, and recorded with the run and in its report', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('people.csv', await sample('hubspot.csv'));
    expectCounts(run, { rows: 4, created: 4 });
    expect(noteOf(run)).toBe('recognised as HubSpot contacts (preset hubspot)');
    expect(run.mapping).toMatchObject({ name: 'hubspot', key: 'Record ID' });
    expect(run.mapping).not.toHaveProperty('fixtures');
    expect((await bench.report(run)).mapping).toMatchObject({ name: 'hubspot' });
    expect(await bench.world.contactOf('hubspot-51')).toMatchObject({ externalId: 'hubspot-51' });
  });

  it('changes nothing when it comes again', async () => {
    const bench = await openRunsBench();
    await bench.import('people.csv', await sample('hubspot.csv'));
    expectCounts(await bench.import('people.csv', await sample('hubspot.csv')), { rows: 4, unchanged: 4 });
  });

  it('of JSON is recognised by its members', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('page.json', await sample('hubspot-api.json'));
    expectCounts(run, { rows: 2, created: 2 });
    expect(run.notes).toEqual([
      'recognised as HubSpot contacts (API) (preset hubspot-api)',
      'skipped 1 row: archived is "true" (line 37)',
    ]);
  });

  it('is found by its footer at the end of a file that is longer than what is looked at first', async () => {
    const bench = await openRunsBench();
    const rows = Array.from({ length: 1_200 }, (_, index) => `"P${index}","p${index}@example.com"`);
    const footer = '"Copyright (c) 2000-2026 salesforce.com"\n"Confidential Information - Do Not Distribute"\n';
    const run = await bench.submit('report.csv', `"Last Name","Email"\n${rows.join('\n')}\n\n${footer}`);
    const staged = await bench.stage(run);
    expectCounts(staged, { rows: 1_200, pending: 1_200 });
    expect(staged.mapping?.name).toBe('salesforce-report');
    expect(staged.notes).toContain('skipped 2 rows: footer or total of the export (lines 1203, 1204)');
  });

  it('leaves no rejected rows behind, night after night', async () => {
    const bench = await openRunsBench();
    const nightly = async (date: string) => (await sample('salesforce-report.csv')).replace('11/5/2026', date);
    await bench.import('report.csv', await nightly('11/5/2026'));
    expectCounts(await bench.import('report.csv', await nightly('11/6/2026')), { rows: 3, unchanged: 3 });
    expect(await bench.letters()).toEqual([]);
  });

  it('is read with notes about what it holds, and about nothing else', async () => {
    const bench = await openRunsBench();
    const header = 'First Name,Business Phone,E-mail Display Name,E-mail Address,Home Street,Notes';
    const run = await bench.import('outlook.csv', csv(['Ann,,,a@example.com,,hello'], header));
    expect(run.notes).toEqual([
      'recognised as Outlook contacts (preset outlook)',
      'ignored columns (not in the mapping): Notes',
      'keys are derived from "E-mail Address", else "Business Phone", else "First Name": a person for whom these change becomes another contact',
    ]);
    const ids = await bench.import('report.csv', await sample('salesforce-report-ids.csv'));
    expect(ids.notes.filter((note) => note.startsWith('keys'))).toEqual([]);
  });

  it('is not looked for where a person or the feed names a mapping', async () => {
    const bench = await openRunsBench({ configured: { crm: { mapping: 'generic' } } });
    const own = mapping({ key: 'Record ID', fields: { firstName: 'First Name' } });
    const run = await bench.import('a.csv', hubspot('7,Ann,,'), { mapping: own });
    expect([run.mapping?.name, (await bench.world.contactOf('7')).externalId]).toEqual(['test', '7']);
    for (const given of [{ mapping: null }, { feed: 'crm' }]) {
      expect(await bench.import('b.csv', hubspot('8,Bob,,'), given)).toMatchObject({
        state: 'failed',
        reason: { code: 'keyColumnMissing', hint: expect.stringContaining('Add the column externalId') },
      });
    }
  });

  it('may be named: nothing has to be recognised then', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', hubspot('7,Ann,,'), { mapping: await findMapping('hubspot') });
    expect([run.mapping?.name, run.notes]).toEqual(['hubspot', []]);
  });

  it('with a column externalId is in the generic layout', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['x-1,7,Ann'], 'externalId,Record ID,First Name'));
    expect([run.mapping, (await bench.world.contactOf('x-1')).externalId]).toEqual([null, 'x-1']);
  });
});

describe('a file that nothing says how to read', () => {
  const failed = async (bench: RunsBench, name: string, content: string) => {
    const run = await bench.import(name, content);
    expect([run.state, (await bench.world.contacts()).length]).toEqual(['failed', 0]);
    return run.reason ?? expect.fail('the run has no reason');
  };

  it('is refused where two exports fit: both are named', async () => {
    const bench = await openRunsBench();
    const reason = await failed(
      bench,
      'a.csv',
      csv(['1,2,Ann,yes'], 'Record ID,Customer ID,First Name,Accepts Email Marketing'),
    );
    expect(reason).toMatchObject({
      code: 'layoutAmbiguous',
      message:
        'a.csv could be HubSpot contacts (preset hubspot) or Shopify customers (preset shopify); nothing is guessed',
      hint: 'Say which it is with --mapping hubspot or --mapping shopify, or with feeds.NAME.mapping in the configuration.',
      facts: { presets: 'hubspot, shopify' },
    });
  });

  it.each([
    [
      'my people.csv',
      'Name;Ort\nAnn;Ulm\n',
      'no column externalId and no header of a known export in the first 20 lines; line 1 holds: "Name", "Ort"',
    ],
    [
      'people.json',
      '[{"id":7,"name":"Ann"}]',
      'no record with externalId and no records of a known export; found: "id", "name"',
    ],
    [
      'deals.csv',
      'Last Name,Deal\nWu,5\n',
      'no column externalId and no header of a known export; found: "Last Name", "Deal"',
    ],
  ])('is refused with what to type: %s', async (name, content, message) => {
    const bench = await openRunsBench();
    const reason = await failed(bench, name, content);
    expect(reason.code).toBe('keyColumnMissing');
    expect(reason.message).toBe(`${name}: ${message}`);
    const path = `${bench.folder}/${name}`;
    const word = name.includes(' ') ? `'${path}'` : path;
    expect(reason.hint).toBe(
      `To see what its columns could be, and to write a mapping for it, type: patchbay map ${word}`,
    );
  });

  it('is refused with the feed in what to type, where a feed was named', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('people.csv', 'Name;Ort\nAnn;Ulm\n', { feed: 'crm' }));
    expect(run.reason?.hint).toContain(`type: patchbay map --feed crm ${bench.folder}/people.csv`);
  });

  it('is no empty file, and no file of lines that are no JSON', async () => {
    const bench = await openRunsBench();
    expectCounts(await bench.import('a.csv', ''), {});
    expectCounts(await bench.import('a.json', '[]'), {});
    expectCounts(await bench.import('a.ndjson', '"x"\n'), { rows: 1, dead: 1 });
  });
});

describe('rejected rows of a known export', () => {
  const broken = hubspot('7,Ann,,call me', '8,Bob,,+14155550102');

  it('go in again by their fix-file, read by the preset', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', broken);
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
    const { text } = await bench.fixFile(run);
    const again = await bench.import('fixed.csv', text.replace('call me', '+14155550101'));
    expectCounts(again, { rows: 1, created: 1 });
    expect([again.kind, again.mapping?.name]).toEqual(['fixFile', 'hubspot']);
    expect(await bench.letters()).toMatchObject([{ state: 'closed' }]);
  });

  it.each([false, true])('are tried again by the preset, mapped anew: %s', async (remap) => {
    const bench = await openRunsBench();
    await bench.import('a.csv', broken);
    const [run] = await redrive(bench.parts, { remap });
    expect(run?.mapping?.name).toBe('hubspot');
    expectCounts(await bench.carryOut(run ?? expect.fail('no run')), { rows: 1, dead: 1 });
  });
});

describe('a feed of a known export', () => {
  it('stops where a later file lacks a column that was mapped', async () => {
    const bench = await openRunsBench({ configured: { crm: {} } });
    await bench.import('a.csv', hubspot('7,Ann,a@example.com,+14155550101'), { feed: 'crm' });
    const run = await bench.import('b.csv', csv(['7,Ann'], 'Record ID,First Name'), { feed: 'crm' });
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardColumns' } });
  });
});
