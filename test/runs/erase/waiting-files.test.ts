/** Files that wait to be read name a person who is forgotten (`docs/rules.md`, "Forgetting a person"). */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { waitingFilesOf } from '#src/runs/erase/waiting-files.ts';
import { csv, mapping, openRunsBench } from '#test/runs/support/runs-bench.ts';

const person = { key: 'k-17', contactId: null, texts: ['zelda@example.com'] };
const header = 'externalId,firstName';

it('are named where they hold the person, as the mapping of their feed reads them, or cannot be searched; and stay as they are', async () => {
  const made = mapping({ key: { join: ['Kind', 'Number'], with: '-' }, fields: { firstName: 'Name' } });
  const bench = await openRunsBench();
  const { ledger, parts } = bench;
  const watched = join(bench.folder, 'import');
  await mkdir(join(watched, 'crm'), { recursive: true });
  await mkdir(join(watched, '_done'), { recursive: true });
  const theirs = csv(['k-17,Zelda'], header);
  const files: Readonly<Record<string, string | Uint8Array>> = {
    'a.csv': theirs,
    'b.csv': csv(['k-1,Ann k-17'], header),
    'c.csv.gz': gzipSync(theirs),
    'd.csv.gz': gzipSync(theirs).subarray(0, 20),
    '.part.csv': theirs,
    '_done/e.csv': theirs,
    'crm/f.csv': csv(['k,17,Zelda'], 'Kind,Number,Name'),
    'crm/g.csv': csv(['k,18,Ann'], 'Kind,Number,Name'),
    'crm/i.csv': csv(['', 'Kind,Number,Name', 'k,17,Zelda'], 'Report of contacts'),
    'crm/j.json': '{"Kind": "k", "Number": "17", "Name": "Zelda"}',
    'crm/k.csv': csv(['k,18'], 'one,other'),
    'crm/h.csv': csv(['x,"zelda@example.com'], 'Kind,Number'),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(watched, name), content);
  await writeFile(Buffer.from(join(watched, 'Kont\xe4.csv'), 'latin1'), theirs);
  const queued = await bench.submit('queued.csv', theirs);
  await bench.submit('other.csv', csv(['k-2,Bea'], header));
  const feeds = {
    get: async (name: string) => ({ ...(await parts.feeds.get(name)), mapping: name === 'crm' ? made : null }),
  };
  const found = await waitingFilesOf(
    { ledger, feeds, watched: [watched, join(bench.folder, 'none')], host: null },
    person,
  );
  expect(found.toSorted((one, two) => (one.path < two.path ? -1 : 1))).toEqual([
    { path: queued.claimedPath, run: queued.id, names: 'person' },
    { path: join(watched, 'Kont\ufffd.csv'), run: null, names: 'unknown' },
    { path: join(watched, 'a.csv'), run: null, names: 'person' },
    { path: join(watched, 'c.csv.gz'), run: null, names: 'person' },
    { path: join(watched, 'crm/f.csv'), run: null, names: 'person' },
    { path: join(watched, 'crm/h.csv'), run: null, names: 'person' },
    { path: join(watched, 'crm/i.csv'), run: null, names: 'person' },
    { path: join(watched, 'crm/j.json'), run: null, names: 'person' },
    { path: join(watched, 'd.csv.gz'), run: null, names: 'unknown' },
  ]);
});
