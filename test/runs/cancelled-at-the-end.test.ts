/** A run that is cancelled, or whose process dies, while it is being ended (`docs/rules.md`, "People who left", "Dead letters"). */
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { createLogger } from '#src/log.ts';
import { finishCancelled, finishRun, tidyFinished } from '#src/runs/finish-run.ts';
import { stageRun } from '#src/runs/stage.ts';
import { openFileSupply } from '#src/runs/supply.ts';
import { processBatch } from '#src/upsert/process-batch.ts';
import { csv, fillers, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const cancelled = { code: 'cancelled', message: 'cancelled by a person', hint: null, facts: {} };

/** A full file of five people and a row without a key, and a second one that has neither that row nor the last two people. */
async function openedFeed() {
  const logLines: string[] = [];
  const log = createLogger({ level: 'info', stream: { write: (line) => void logLines.push(line) } });
  const bench = await openRunsBench({ log });
  await bench.import('first.csv', csv([...fillers(5), ',A footer,x']), { feed: 'crm' });
  const applied = async (name: string, rows: readonly string[]): Promise<RunRecord> =>
    bench.apply(await bench.stage(await bench.submit(name, csv(rows), { feed: 'crm' })));
  const { ledger } = bench;
  return {
    bench,
    applied,
    logged: () => logLines.join(''),
    missing: async () => (await ledger.missing.list('crm', null, 9)).map(({ key }) => key),
    letters: async () => (await bench.letters()).map(({ state }) => state),
  };
}

/** The same parts; a person cancels the run just before it moves on from that state. */
function cancelling(bench: RunsBench, from: RunRecord['state']): RunsBench['parts'] {
  const { runs } = bench.ledger;
  const move: typeof runs.move = async (id, states, to, change) => {
    if (states.includes(from) && to !== from) await runs.move(id, [from], 'cancelling', { atMs: 1, reason: cancelled });
    return runs.move(id, states, to, change);
  };
  return { ...bench.parts, ledger: { ...bench.ledger, runs: { ...runs, move } } };
}

describe('a run that is cancelled after its report was written', () => {
  it('ends as cancelled: it leaves no one missing, no letter is closed, and its report says the same', async () => {
    const { bench, applied, missing, letters } = await openedFeed();
    const run = await applied('second.csv', fillers(3));
    expect(await finishRun(cancelling(bench, 'applying'), run.id)).toBe(false);
    expect(await finishCancelled(bench.parts, run.id)).toBe(true);
    const ended = await bench.again(run);
    expect(ended).toMatchObject({ state: 'cancelled', reason: { code: 'cancelled' } });
    expect(ended.notes.join()).not.toContain('dead letter');
    expect(await bench.report(ended)).toMatchObject({ state: 'cancelled', exitCode: 5, notes: ended.notes });
    expect(await missing()).toEqual([]);
    expect(await letters()).toEqual(['open']);
  });

  it('so does one whose totals do not add up', async () => {
    const { bench, applied } = await openedFeed();
    const run = await applied('second.csv', fillers(3));
    await bench.ledger.runs.record(run.id, { counts: { unchanged: 1 } });
    expect(await finishRun(cancelling(bench, 'applying'), run.id)).toBe(false);
    expect(await finishCancelled(bench.parts, run.id)).toBe(true);
    expect(await bench.again(run)).toMatchObject({ state: 'cancelled' });
  });

  it('so does one whose file cannot be read', async () => {
    const { bench } = await openedFeed();
    const run = await bench.submit('second.csv', 'nothing,that,is,a,key\n1,2,3,4,5\n', { feed: 'crm' });
    await bench.stage(run, { parts: cancelling(bench, 'staging') });
    expect(await finishCancelled(bench.parts, run.id)).toBe(true);
    expect(await bench.again(run)).toMatchObject({ state: 'cancelled' });
    expect(await bench.report(run)).toMatchObject({ state: 'cancelled' });
  });
});

it('a run that is cancelled says so of a single write that may have landed', async () => {
  const bench = await openRunsBench();
  await bench.world.faults('create:dropAfter');
  const run = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A'])));
  for (const batch of await bench.ledger.runs.nextBatches(bench.world.clock.nowMs(), 1))
    await processBatch(bench.world.parts, batch, new AbortController().signal, { recordsMax: 1 });
  await bench.ledger.runs.move(run.id, ['applying'], 'cancelling', { atMs: 1, reason: cancelled });
  expect((await bench.finish(run)).reason).toMatchObject({
    message: 'cancelled by a person; 1 write had no answer by then and may have landed',
    facts: { inDoubt: 1 },
  });
});

it('a run that is cancelled while it leaves staging is not logged as staged', async () => {
  const { bench, logged } = await openedFeed();
  const run = await bench.submit('second.csv', csv(fillers(3)), { feed: 'crm' });
  const before = logged().length;
  await stageRun(cancelling(bench, 'staging'), run, (one) => openFileSupply(bench.parts, one), AbortSignal.any([]));
  expect(await bench.again(run)).toMatchObject({ state: 'cancelling' });
  expect(logged().slice(before)).not.toContain('run staged');
});

describe('a process that dies after a run has ended, before who is missing by it is entered', () => {
  async function died() {
    const opened = await openedFeed();
    const { bench, applied, missing, letters } = opened;
    const run = await applied('second.csv', fillers(3));
    const killed = () => Promise.reject(new Error('killed'));
    const { missing: people, deadLetters } = bench.ledger;
    const ledger = {
      ...bench.ledger,
      missing: { ...people, enter: killed },
      deadLetters: { ...deadLetters, closeUnmet: killed },
    };
    await expect(finishRun({ ...bench.parts, ledger }, run.id)).rejects.toThrow('killed');
    const note = 'closed 1 dead letter without a key: the file does not hold its row any more';
    expect(await bench.again(run)).toMatchObject({ state: 'done', notes: expect.arrayContaining([note]) });
    expect([await missing(), await letters()]).toEqual([[], ['open']]);
    return { ...opened, run };
  }

  it('leaves it to the next engine', async () => {
    const { bench, missing, letters } = await died();
    await tidyFinished(bench.parts);
    expect([await missing(), await letters()]).toEqual([['f-4', 'f-5'], ['closed']]);
  });

  it('or to the next file of the feed, which compares itself with that', async () => {
    const { bench, applied, missing, letters } = await died();
    const run = await applied('third.csv', fillers(2));
    expect([await missing(), await letters()]).toEqual([['f-4', 'f-5'], ['closed']]);
    expect(run.shape?.missing).toEqual({ count: 3, new: 1 });
    await bench.finish(run);
    // What is done late changes nothing of what was said since.
    await tidyFinished(bench.parts);
    expect(await missing()).toEqual(['f-4', 'f-5', 'f-3']);
  });
});

it('the next engine gives back letters that a run had taken whose process died before it did so', async () => {
  const { bench } = await openedFeed();
  let asked = 0;
  const deadLetters: typeof bench.ledger.deadLetters = {
    ...bench.ledger.deadLetters,
    giveBackEnded: async () => {
      asked += 1;
      await bench.ledger.deadLetters.giveBackEnded();
    },
  };
  await tidyFinished({ ...bench.parts, ledger: { ...bench.ledger, deadLetters } });
  expect(asked).toBe(1);
});
