/** Content whose run failed as a whole is taken again where a person asks, and a schedule says how. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import type { TakeParts } from '#src/takes/take.ts';
import { startFileServer } from './support/file-server.ts';
import { openTakesBench, type TakesBench } from './support/takes-bench.ts';

const request: Partial<TakeParts> = { trigger: 'request' };
const hint = /run.* failed: take it again with patchbay schedule run crm$/;

async function end(bench: TakesBench, to: 'failed' | 'done'): Promise<void> {
  for (const { run } of await bench.runs()) await bench.ledger.runs.move(run.id, ['queued'], to, { atMs: 1 });
}

describe('what failed', () => {
  it('at a path is taken again on request alone, until it is done', async () => {
    const bench = await openTakesBench();
    const path = await bench.write('crm.csv', 'one');
    await bench.take(path);
    await end(bench, 'failed');
    expect(await bench.take(path)).toMatchObject({ code: 'fileTaken', message: expect.stringMatching(hint) });
    expect(await bench.take(path, {}, request)).toMatchObject({ outcome: 'run' });
    await end(bench, 'done');
    expect(await bench.take(path, {}, request)).toMatchObject({
      code: 'fileTaken',
      message: expect.stringMatching(/taken before$/),
    });
    expect(await bench.contents()).toEqual(['one', 'one']);
  });

  it('from a URL is taken again, also where the server would say that it has not changed', async () => {
    const server = await startFileServer({
      answer: (asked, response) => {
        const known = asked.headers['if-none-match'] === '"1"';
        response.writeHead(known ? 304 : 200, {
          etag: '"1"',
          'content-type': 'text/csv',
          'content-length': known ? 0 : 3,
        });
        response.end(known ? '' : 'one');
      },
    });
    const { parts } = await openTakesBench();
    const download = { ...parts.download, privateAddresses: true };
    const bench = await openTakesBench({ clock: systemClock(), download });
    const url = `${server.origin}/crm.csv`;
    await bench.take(url);
    await end(bench, 'failed');
    expect(await bench.take(url)).toMatchObject({ code: 'notModified', message: expect.stringMatching(hint) });
    expect(await bench.take(url, {}, request)).toMatchObject({ outcome: 'run' });
    await end(bench, 'done');
    expect(await bench.take(url, {}, request)).toMatchObject({ code: 'notModified' });
  });

  it.each(['full', 'delta'] as const)(
    'at a glob of %s exports is taken again, but nothing before what was done',
    async (kind) => {
      const bench = await openTakesBench();
      const pattern = join(bench.folder, 'exports', '*.csv');
      for (const [second, name] of ['old', 'done', 'new'].entries()) {
        await bench.write(`exports/${name}.csv`, name, second);
        await bench.take(pattern, { kind });
        await end(bench, name === 'done' ? 'done' : 'failed');
      }
      expect(await bench.take(pattern, { kind })).toMatchObject({ message: expect.stringMatching(hint) });
      expect(await bench.take(pattern, { kind }, request)).toMatchObject({ outcome: 'run', message: null });
      expect(await bench.contents()).toEqual(['old', 'done', 'new', 'new']);
    },
  );
});
