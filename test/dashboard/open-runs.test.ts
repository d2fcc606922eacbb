/** Long lists of runs that wait: `status` and the page show those that arrived first, and say how many more there are and where. */
import { expect, it } from 'vitest';
import type { RunState } from '#src/ledger/runs.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { type DashboardBench, dashboardBench, enterRun, stageRun, startMs } from './dashboard-bench.ts';

const runCount = 57;

function idOf(number: number): string {
  return `20261121T140000Z-${number.toString(16).padStart(6, '0')}`;
}

async function benchWith(state: Extract<RunState, 'stopped' | 'applying'>): Promise<DashboardBench> {
  const bench = await dashboardBench();
  const reason = { code: 'guardUpdates', message: '9 of 10 would change', hint: 'Look at it.', facts: {} };
  for (let number = 1; number <= runCount; number += 1) {
    const run = await enterRun(bench, { id: idOf(number), feed: `feed-${number}`, fileName: `file-${number}.csv` });
    await stageRun(bench, run, { rows: 1 });
    await bench.ledger.runs.move(run.id, ['staging'], state, {
      atMs: startMs,
      ...(state === 'stopped' ? { reason } : {}),
    });
  }
  // The newest run of all has ended.
  const last = await enterRun(bench, { id: idOf(runCount + 1), feed: 'last', fileName: 'last.csv' });
  await bench.ledger.runs.move(last.id, ['queued'], 'failed', { atMs: startMs });
  return bench;
}

const command = async ({ folder }: DashboardBench, words: readonly string[]) =>
  await callPatchbay(['--data', folder, ...words, '--sandbox'], {});

it.each([
  ['stopped', 'stopped'],
  ['active', 'applying'],
] as const)('%s runs: the longest waiting come first, and the rest is counted', async (word, state) => {
  const bench = await benchWith(state);
  const oldest = Array.from({ length: 20 }, (_, index) => idOf(index + 1));

  const { code, stdout } = await command(bench, ['status']);
  expect(code).toBe(0);
  expect(stdout.match(/20261121T140000Z-[0-9a-f]{6}(?= {2}feed-)/g)).toEqual(oldest);
  const [, pasted = ''] = /… and 37 more: patchbay (.*)/.exec(stdout) ?? [];
  const listed = await callPatchbay([...pasted.split(' '), '--json'], {});
  expect(listed.stdout.trimEnd().split('\n')).toHaveLength(runCount);

  const document = JSON.parse((await command(bench, ['status', '--json'])).stdout);
  expect(document[word][0].run).toBe(idOf(1));
  expect([document[word].length, document[`${word}Count`]]).toEqual([50, runCount]);

  const { text } = await bench.page('/');
  expect(text).toContain(`And 7 runs that arrived later. <a href="/runs?state=${word}">See all 57</a>`);
  expect(text.indexOf(idOf(1))).toBeGreaterThan(0);
  const { body } = await bench.json(`/runs?state=${word}`);
  expect(body).toHaveLength(runCount);
});
