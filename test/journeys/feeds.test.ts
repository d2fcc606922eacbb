import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';

describe('import --feed', () => {
  test('has the mapping of that feed; a name that it cannot have is refused', async ({ journey }) => {
    const file = journey.file('all.csv', 'Nr,Vorname\n1,Ann\n2,Bob\n');
    const refused = await journey.call(['import', '--sandbox', '--feed', 'csv', file]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('feeds.csv.source');

    const folder = join(journey.data, 'sandbox', 'import', 'crm');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '_mapping.yaml'), 'name: crm\nkey: Nr\nfields: { firstName: Vorname }\n');
    const { documents, stderr } = await journey.run(['import', '--sandbox', '--json', '--feed', 'crm', file]);
    expect(documents[0], stderr).toMatchObject({ feed: 'crm', state: 'done', created: 2 });
    expect(stderr).not.toContain('new feed');
  });

  test('makes the folder of a feed that has none: a number stays while its file names it, whatever ran between', async ({
    journey,
  }) => {
    const service = await journey.service();
    const columns = 'externalId,firstName,phone mobile';
    const load = async (feed: string, row: string) => {
      const { code, stderr } = await journey.call([
        'import',
        '--feed',
        feed,
        journey.file('a.csv', `${columns}\n${row}\n`),
      ]);
      expect(code, stderr).toBe(0);
    };
    const phones = async () =>
      (await service.people())
        .get('u-5')
        ?.phoneNumbers.map(({ value }) => value)
        .toSorted();
    await load('crm', 'u-5,Uma,+14155550152');
    await load('shop', 'u-5,Uma,+14155550152');
    // A run that has nothing to do with the number.
    await load('crm', 'u-5,Umaa,+14155550152');
    await load('crm', 'u-5,Umaa,+14155550153');
    expect(await phones()).toEqual(['+14155550152', '+14155550153']);
    await load('shop', 'u-5,Uma,+14155550154');
    expect(await phones()).toEqual(['+14155550153', '+14155550154']);
    expect(journey.names('import')).toEqual(expect.arrayContaining(['crm', 'shop']));
  });
});
