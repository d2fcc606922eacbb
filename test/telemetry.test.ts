/** What observers are told, and that nobody is told anything without one. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FactMessage, inWork, observe, publishFact, type WorkMessage } from '#src/telemetry.ts';

function watch() {
  const works: WorkMessage[] = [];
  const facts: FactMessage[] = [];
  const end = observe({ onWork: (message) => works.push(message), onFact: (message) => facts.push(message) });
  onTestFinished(end);
  return { works, facts, end };
}

const finishing = { run: 'r1' };

describe('Work', () => {
  it('is told at its beginning and at its end, with what it learned meanwhile', async () => {
    const { works } = watch();
    const known = { run: 'r1', feed: 'crm', rowCount: null };
    const result = await inWork('staging', known, async (found) => {
      found.rowCount = 7;
      return 'staged';
    });
    expect(result).toBe('staged');
    expect(works.map(({ moment }) => moment)).toEqual(['begins', 'ended']);
    expect(works[1]).toMatchObject({
      work: { kind: 'staging', known: { rowCount: 7 }, within: null },
      error: undefined,
    });
    expect(works[1]?.work).toBe(works[0]?.work);
  });

  it('knows the work that it is a part of, also across what goes on at the same time', async () => {
    const { works } = watch();
    const inner = (run: string) => inWork('finishing', { run }, async () => undefined);
    const outer = (run: string) => inWork('staging', { run, feed: 'crm', rowCount: null }, () => inner(run));
    await Promise.all([outer('r1'), outer('r2')]);
    const parts = works.flatMap(({ moment, work }) =>
      moment === 'begins' && work.kind === 'finishing' ? [{ part: work.known, of: work.within?.known }] : [],
    );
    expect(parts).toEqual(['r1', 'r2'].map((run) => ({ part: { run }, of: { run, feed: 'crm', rowCount: null } })));
  });

  it('that fails is told with its error, which goes on to the caller', async () => {
    const { works } = watch();
    const failure = new Error('no room');
    await expect(inWork('finishing', finishing, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(works[1]).toMatchObject({ moment: 'ended', error: failure });
  });
});

describe('Without an observer', () => {
  it('work is done and nothing is told', async () => {
    const { works, facts, end } = watch();
    end();
    expect(await inWork('finishing', finishing, async () => 'done')).toBe('done');
    publishFact('paused', { code: 'keyRefused', scope: 'all' });
    expect([works, facts]).toEqual([[], []]);
  });
});
