/** A signal in the first moments of a command: while its ledger is opened, the thread is held, and nothing has begun. */
import { describe, expect } from 'vitest';
import { type Journey, test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';

const preload = new URL('../support/signal-on-open.mjs', import.meta.url).href;
const signalOnOpen = (signal: string) => ({ NODE_OPTIONS: `--import ${preload}`, SIGNAL_ON_OPEN: signal });

/** A data folder with a run that was imported. */
async function knownFolder(journey: Journey): Promise<string> {
  await journey.service();
  const file = journey.file('people.csv', peopleCsv(5));
  expect((await journey.call(['import', file])).code).toBe(0);
  return file;
}

describe.concurrent('a signal while the ledger is opened', () => {
  test('ends an import before it begins, with its document', async ({ journey }) => {
    await knownFolder(journey);
    const other = journey.file('other.csv', peopleCsv(9));
    const { code, documents, stderr } = await journey.run(['import', '--json', other], signalOnOpen('SIGINT'));
    expect(documents, stderr).toMatchObject([{ error: { code: 'interrupted' }, exitCode: 130 }]);
    expect(code).toBe(130);
    expect(await journey.runs()).toHaveLength(1);
  });

  test('ends a start', async ({ journey }) => {
    await knownFolder(journey);
    const { code, stdout, stderr } = await journey.run(['start'], { ...signalOnOpen('SIGTERM'), PORT: '0' });
    expect(stdout).toBe('');
    expect(stderr).toContain('nothing was begun');
    expect(code).toBe(143);
  });

  test('ends a command that only looks, with its document', async ({ journey }) => {
    await knownFolder(journey);
    const { code, documents, stderr } = await journey.run(['status', '--json'], signalOnOpen('SIGHUP'));
    expect(documents, stderr).toEqual([
      { error: { code: 'interrupted', message: expect.any(String), hint: null }, exitCode: 129 },
    ]);
    expect(code).toBe(129);
  });
});
