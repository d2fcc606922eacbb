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
});
