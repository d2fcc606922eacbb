/** A ledger that turns out to be damaged while it is used: all work stops at once, and everybody is told what to do. */
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { damageHeader, damageTables } from '#test/support/damage-ledger.ts';
import { type Journey, test } from '#test/support/journey.ts';
import type { PatchbayProcess } from '#test/support/patchbay-process.ts';
import { peopleCsv } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

interface Probed {
  readonly status: number;
  readonly body: { readonly ready?: boolean; readonly reasons?: readonly string[] };
}

async function probe(page: string, path: string): Promise<Probed> {
  const reply = await fetch(new URL(path, page), { headers: { accept: 'application/json' } });
  return { status: reply.status, body: (await reply.json()) as Probed['body'] };
}

const ledgerOf = (journey: Journey): string => join(journey.data, 'ledger.sqlite');
const slow = ['create:latency=100ms'];

/** A `start` that is in the middle of a file: creates are on their way. */
async function startAtWork(journey: Journey): Promise<{ engine: PatchbayProcess; page: string }> {
  const service = await journey.service(slow);
  const engine = journey.start(['start', '--json']);
  const { page } = JSON.parse(await engine.firstLine());
  journey.file('data/import/people.csv', peopleCsv(300));
  await service.creates(20);
  return { engine, page };
}

const timesIn = (text: string, words: string): number => text.split(words).length - 1;

describe('a ledger that is damaged while an engine works', () => {
  test('ends all work at once; it is said once, and the probes tell the reason', async ({ journey }) => {
    const { engine, page } = await startAtWork(journey);
    damageTables(ledgerOf(journey), ['staged']);
    const readiness = await until('a probe that says no', async () => {
      const probed = await probe(page, '/readyz');
      return probed.status === 503 && probed;
    });
    expect(readiness.body).toMatchObject({ ready: false, reasons: [expect.stringContaining(ledgerOf(journey))] });
    await until('the word on stderr', () => engine.stderr.includes('[ledgerDamaged]'));
    expect((await probe(page, '/healthz')).status).toBe(200);
    const overview = await probe(page, '/');
    expect(overview).toMatchObject({ status: 503, body: { error: { code: 'ledgerDamaged' } } });
    // The other commands refuse the file, though what they would read of it is whole.
    for (const words of [['status'], ['runs', 'ls'], ['import', '--wait', '20s', 'config/samples/contacts.csv']]) {
      const { code, documents } = await journey.call([...words, '--json']);
      expect(code, words.join(' ')).toBe(1);
      expect(documents[0]).toMatchObject({
        error: {
          code: 'ledgerDamaged',
          message: expect.stringContaining(ledgerOf(journey)),
          hint: expect.stringContaining('patchbay ledger check'),
        },
        exitCode: 1,
      });
    }
    const diagnosis = await journey.call(['doctor', '--json']);
    expect(diagnosis.code).toBe(1);
    expect(diagnosis.documents[0].checks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          check: 'ledger',
          ok: false,
          detail: expect.stringContaining('patchbay ledger check'),
        }),
        expect.objectContaining({ check: 'service', ok: true }),
      ]),
    );
    engine.signal('SIGTERM');
    const { code, stderr } = await engine.ended();
    expect(code).toBe(1);
    const told = stderr.split('\n').filter((line) => line.includes('ledgerDamaged'));
    expect(told, stderr).toHaveLength(2);
    expect(timesIn(stderr, '"level":"error"'), stderr).toBe(1);
    expect(timesIn(stderr, '"level":"warn"'), stderr).toBe(0);
  });

  test('ends a one-shot with a word of what to do', async ({ journey }) => {
    const service = await journey.service(slow);
    const oneShot = journey.start(['import', '--json', journey.file('people.csv', peopleCsv(300))]);
    await service.creates(20);
    damageTables(ledgerOf(journey), ['staged']);
    const { code, documents } = await oneShot.ended();
    expect(code).toBe(1);
    expect(documents.at(-1)).toMatchObject({ error: { code: 'ledgerDamaged' }, exitCode: 1 });
  });

  test('ends a one-shot and a worker that follow another engine', async ({ journey }) => {
    const { engine, page } = await startAtWork(journey);
    const worker = journey.start(['start', '--worker', '--json']);
    await worker.firstLine();
    const follower = journey.start(['import', '--json', journey.file('more.csv', peopleCsv(300, { prefix: 'm' }))]);
    await until('the follower', () => follower.stderr.includes('an engine is already running'));
    damageTables(ledgerOf(journey), ['staged']);
    for (const ended of [await follower.ended(), await worker.ended()]) {
      expect(ended.code, ended.stderr).toBe(1);
      expect(ended.documents.at(-1)).toMatchObject({ error: { code: 'ledgerDamaged' }, exitCode: 1 });
    }
    await until('an engine that is not ready', async () => (await probe(page, '/readyz')).status === 503);
    engine.signal('SIGINT');
    expect((await engine.ended()).code).toBe(1);
  });

  test('whose header is gone is told in the same words', async ({ journey }) => {
    await journey.service();
    await journey.run(['import', '--quiet', journey.file('people.csv', peopleCsv(5))]);
    const engine = journey.start(['start', '--json']);
    const { page } = JSON.parse(await engine.firstLine());
    damageHeader(ledgerOf(journey));
    const status = await journey.call(['status', '--json']);
    expect(status.code).toBe(1);
    expect(status.documents[0]).toMatchObject({ error: { code: 'ledgerDamaged' } });
    await until('an engine that is not ready', async () => (await probe(page, '/readyz')).status === 503);
    engine.signal('SIGTERM');
    expect((await engine.ended()).code).toBe(1);
  });
});
