/** A feed whose mapping is on one host, and a file or a retry of it on another one. */
import { describe, expect, it } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import { noOptions, type RunRecord } from '#src/ledger/runs.ts';
import { submitFile } from '#src/runs/enter-run.ts';
import { csv, expectCounts, mapping, openRunsBench } from './support/runs-bench.ts';

const header = 'Nr,First,Tel';
const shop = mapping({ name: 'shop', key: 'Nr', fields: { firstName: 'First' }, phones: [{ column: 'Tel' }] });

/** Rows that one host has read, one of them rejected; and how a file of the feed is read on the other host. */
async function twoHosts(feed = 'shop') {
  const bench = await openRunsBench({ host: 'berlin' });
  const first = await bench.import('a.csv', csv(['1,Ann,', '2,Bea,call me'], header), { feed, mapping: shop });
  expectCounts(first, { rows: 2, created: 1, dead: 1 });
  const parts = { ...bench.parts, host: 'boston' };
  const readThere = async (text: string): Promise<RunRecord> => {
    const choice = { feed: await parts.feeds.get(feed) };
    const { run } = await submitFile(parts, await bench.write('b.csv', text), noOptions, choice);
    return bench.stage(run, { parts });
  };
  return { bench, parts, readThere, mappingFile: `${first.importFolder}/shop/_mapping.yaml` };
}

describe('a file that nothing on this host says how to read', () => {
  it('fails with the mapping that another host read the feed by, and where that is', async () => {
    const { readThere, mappingFile } = await twoHosts();
    const { state, reason } = await readThere(csv(['3,Cyn,'], header));
    expect(state).toBe('failed');
    expect(reason).toMatchObject({
      code: 'keyColumnMissing',
      message: expect.stringMatching(
        /^b\.csv: no column externalId .*; feed shop was read by the mapping "shop" of the host berlin, which is not on this one$/,
      ),
      hint: expect.stringMatching(
        new RegExp(
          `^Copy ${mappingFile}, or the file that its configuration names, from that host to the same place of this one\\. Then import the file again\\. If that mapping is not meant for it: .*patchbay map --feed shop`,
        ),
      ),
    });
  });

  it('of main names the configuration', async () => {
    const { readThere } = await twoHosts('main');
    const { reason } = await readThere(csv(['3,Cyn,'], header));
    expect(reason?.hint).toContain('Copy the file that mapping.file of the configuration names there from that host');
  });

  it('fails as ever where the feed was read in another way', async () => {
    const bench = await openRunsBench({ host: 'berlin' });
    await bench.import('a.csv', csv(['1,Ann'], 'externalId,firstName'), { feed: 'shop' });
    const failed = await bench.import('b.csv', csv(['3,Cyn,'], header), { feed: 'shop' });
    expect(failed.reason?.hint).toContain('patchbay map --feed shop');
  });

  it('names no mapping that the feed does without since', async () => {
    const { bench, readThere } = await twoHosts();
    const since = await bench.import('c.csv', csv(['1,Ann'], 'externalId,firstName'), { feed: 'shop' });
    expect(since).toMatchObject({ state: 'done', mapping: null });
    const { state, reason } = await readThere(csv(['3,Cyn,'], header));
    expect([state, reason?.code]).toEqual(['failed', 'keyColumnMissing']);
    expect(`${reason?.message} ${reason?.hint}`).not.toContain('berlin');
  });
});

describe('a retry that maps rows anew', () => {
  it('is refused where the mapping is on another host, and enters no run', async () => {
    const { bench, parts, mappingFile } = await twoHosts();
    const choice = { feed: 'shop', remap: true };
    await expect(redrive(parts, choice)).rejects.toMatchObject({
      code: 'mappingElsewhere',
      message: 'feed shop was read by the mapping "shop" of the host berlin, which is not on this one',
      hint: expect.stringContaining(`Copy ${mappingFile}`),
    });
    expect(await bench.ledger.runs.list({ limit: 10 })).toHaveLength(1);
    expect(await bench.letters()).toMatchObject([{ state: 'open' }]);
    await expect(redrive(parts, { feed: 'shop', remap: false })).resolves.toHaveLength(1);
  });
});
