/** Deliveries that were given up, in `patchbay dead ls|show|retry|drop`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listDead, retryDead, showDead } from '#src/cli/commands/dead.ts';
import { dropDead } from '#src/cli/commands/mend-letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { deadRow, slice, stagingRun } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { captureOutput } from './support/captured-output.ts';

const atMs = Date.UTC(2026, 10, 21);
const failed = { code: 'webhookFailed', message: 'the webhook answered 503' };
const list = { state: 'open', limit: 10, again: () => 'patchbay dead ls' } as const;

/** Three notices were given up, one waits. */
async function dataFolder(): Promise<{ readonly data: string; readonly ledger: Ledger }> {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  const common = { kind: 'notice', feed: 'crm', data: { troubles: ['guard'] }, atMs } as const;
  await ledger.deliveries.setCondition({ feed: 'crm', troubles: ['guard'], sinceMs: atMs }, [
    { ...common, id: 'n1', type: 'feed.bad' },
    { ...common, id: 'n2', type: 'feed.recovered' },
    { ...common, id: 'n3f', type: 'feed.bad' },
    { ...common, id: 'n4', type: 'feed.bad' },
  ]);
  await ledger.deliveries.tried('n1', atMs + 1_000, { state: 'dead', why: failed });
  await ledger.deliveries.tried('n2', atMs + 1_000, { state: 'dead', why: { ...failed, code: 'webhookGone' } });
  await ledger.deliveries.tried('n3f', atMs + 2_000, { state: 'dead', why: failed });
  return { data, ledger };
}

async function addDeadRow(ledger: Ledger): Promise<void> {
  const run = await stagingRun(ledger, 'r-1');
  await ledger.runs.stage(slice(run, { dead: [deadRow('k1')], counts: { rows: 1, dead: 1 } }));
}

async function documentsOf(work: () => Promise<unknown>): Promise<readonly Record<string, unknown>[]> {
  const captured = captureOutput();
  await work();
  const text = captured.stdout().trim();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line));
}

describe('dead ls', () => {
  it('tells of deliveries in a group of their own, under the rows', async () => {
    const { data, ledger } = await dataFolder();
    await addDeadRow(ledger);
    const captured = captureOutput();
    expect(await listDead({ ...list, data, color: false })).toBe(0);
    const text = captured.stdout();
    expect(text).toContain('3 notices could not be delivered: 2 × feed.bad, 1 × feed.recovered');
    expect(text).toMatch(/last: the webhook answered 503; try again with: patchbay --data \S+ dead retry n3f/);
    expect(text.indexOf('phoneInvalid')).toBeLessThan(text.indexOf('3 notices'));
  });

  it('counts letters and deliveries alike, and is paged by the last id of a page, whichever it is of', async () => {
    const { data, ledger } = await dataFolder();
    await addDeadRow(ledger);
    const page = async (after?: string): Promise<readonly unknown[]> => {
      const options = { ...list, data, limit: 2, json: true, ...(after === undefined ? {} : { after }) };
      return (await documentsOf(() => listDead(options))).map(({ id }) => id);
    };
    const first = await page();
    expect(first).toEqual([expect.stringMatching(/^d/), 'n3f']);
    expect(await page('n3f')).toEqual(['n2', 'n1']);
    await retryDead({ data }, ['n2']);
    expect(await page('n2')).toEqual(['n1']);
    expect(await page('n1')).toEqual([]);
    await expect(listDead({ ...list, data, after: 'n99' })).rejects.toMatchObject({ code: 'noSuchDeadLetter' });
    const captured = captureOutput();
    const again = ({ after }: { after?: string }) => `patchbay dead ls --after ${after}`;
    await listDead({ ...list, data, limit: 2, again: again as typeof list.again });
    expect(captured.stderr()).toContain('these are the newest 2; go on with: ');
    expect(captured.stderr()).toContain('dead ls --after n3f');
  });

  it('counts all rows and deliveries, also where the list ends before them, and says how to list those', async () => {
    const { data, ledger } = await dataFolder();
    const run = await stagingRun(ledger, 'r-1');
    const dead = Array.from({ length: 12 }, (_, at) => deadRow(`k${at}`, { line: at + 2 }));
    await ledger.runs.stage(slice(run, { dead, counts: { rows: 12, dead: 12 } }));
    const older = deadRow('k99', { code: 'emailInvalid', line: 90 });
    const first = await stagingRun(ledger, 'r-0');
    await ledger.runs.stage(slice(first, { dead: [older], atMs: 1, counts: { rows: 1, dead: 1 } }));
    const again = (changed: object) =>
      ['patchbay dead ls', ...Object.entries(changed).map(([name, value]) => `--${name} ${value}`)].join(' ');
    const printed = async (given: object): Promise<string> => {
      const captured = captureOutput();
      await listDead({ ...list, data, color: false, ...given, again });
      return captured.stdout();
    };
    const cut = await printed({});
    expect(cut).toMatch(/^12 × phoneInvalid in Phone \(invalid\)\n/);
    expect(cut).toMatch(/\n {2}… and 2 more: patchbay \S+ \S+ dead ls --code phoneInvalid --limit 12 --json\n/);
    expect(cut).toMatch(
      /\n1 × emailInvalid in Phone \(invalid\)\n {2}not among the newest 10; list them: patchbay \S+ \S+ dead ls --code emailInvalid\n/,
    );
    expect(cut).toMatch(
      /\n3 notices could not be delivered: 2 × feed.bad, 1 × feed.recovered\n {2}behind the newest 10 dead letters; list them: patchbay \S+ \S+ dead ls --code webhookFailed; patchbay \S+ \S+ dead ls --code webhookGone\n/,
    );
    expect(await printed({ limit: 14 })).toMatch(
      /\n3 notices could not [\s\S]+… and 2 more: .* dead ls --limit 17 --json/,
    );
    expect(await printed({ limit: 100 })).not.toMatch(/newest|--limit/);
  });

  it('says nothing of rows where deliveries alone are dead, and nothing of deliveries where a run is asked for', async () => {
    const { data, ledger } = await dataFolder();
    await stagingRun(ledger, 'r-1');
    const captured = captureOutput();
    await listDead({ ...list, data, color: false });
    expect(captured.stdout()).not.toContain('no dead letters');
    const ofRun = await documentsOf(() => listDead({ ...list, data, run: 'r-1', json: true }));
    const dropped = await documentsOf(() => listDead({ ...list, state: 'dropped', data, json: true }));
    expect([...ofRun, ...dropped]).toEqual([]);
  });

  it('--json has of each notice which one it is and to whom it should have gone, as the table has', async () => {
    const { data, ledger } = await dataFolder();
    await ledger.deliveries.setCondition({ feed: 'crm', troubles: [], sinceMs: atMs }, [
      { id: 'n5', kind: 'notice', type: 'feed.held', feed: 'crm@slack', data: {}, atMs },
    ]);
    await ledger.deliveries.tried('n5', atMs + 3_000, { state: 'dead', why: { ...failed, code: 'slackGone' } });
    const documents = await documentsOf(() => listDead({ ...list, data, json: true }));
    expect(documents.map(({ id, type, feed, to }) => ({ id, type, feed, to }))).toEqual([
      { id: 'n5', type: 'feed.held', feed: 'crm', to: 'slack' },
      { id: 'n3f', type: 'feed.bad', feed: 'crm', to: 'webhook' },
      { id: 'n2', type: 'feed.recovered', feed: 'crm', to: 'webhook' },
      { id: 'n1', type: 'feed.bad', feed: 'crm', to: 'webhook' },
    ]);
  });

  it('--json has the keys of the contract for them too, with ids that begin with n, and behind these their type and addressee', async () => {
    const { data } = await dataFolder();
    const documents = await documentsOf(() => listDead({ ...list, data, json: true }));
    expect(documents.map(({ id }) => id)).toEqual(['n3f', 'n2', 'n1']);
    expect(documents.map((one) => one.class)).toEqual(['exhausted', 'refused', 'exhausted']);
    expect(Object.keys(documents[0] ?? {})).toEqual(
      'id run feed file line key class code field message attempts seen state firstAt lastAt type to'.split(' '),
    );
    expect(documents[0]).toMatchObject({
      run: null,
      feed: 'crm',
      file: null,
      line: null,
      key: null,
      code: 'webhookFailed',
      attempts: 1,
      state: 'open',
      firstAt: '2026-11-21T00:00:00.000Z',
      lastAt: '2026-11-21T00:00:02.000Z',
    });
    const gone = await documentsOf(() => listDead({ ...list, data, code: 'webhookGone', json: true }));
    expect(gone.map(({ id }) => id)).toEqual(['n2']);
  });
});

describe('dead show', () => {
  it('shows what was to be told', async () => {
    const { data } = await dataFolder();
    const [shown] = await documentsOf(() => showDead({ data, json: true }, 'n3f'));
    expect(shown).toMatchObject({ id: 'n3f', type: 'feed.bad', data: { troubles: ['guard'] } });
    await expect(showDead({ data }, 'n4')).rejects.toMatchObject({ code: 'noSuchDeadLetter' });
  });

  it('shows one that is still tried as one that is tried again, with what happened last', async () => {
    const { data, ledger } = await dataFolder();
    await ledger.deliveries.tried('n4', atMs, { state: 'waiting', why: failed, nextDueAtMs: 9e12 });
    const [shown] = await documentsOf(() => showDead({ data, json: true }, 'n4'));
    expect(shown).toMatchObject({ id: 'n4', state: 'redriven', attempts: 1, ...failed });
  });
});

describe('dead retry', () => {
  const statesOf = async (ledger: Ledger) =>
    (await Promise.all(['n1', 'n2', 'n3f'].map((id) => ledger.deliveries.get(id)))).map((one) => one?.state);

  it('puts deliveries back into the line by their ids, without a service', async () => {
    const { data, ledger } = await dataFolder();
    const captured = captureOutput();
    expect(await retryDead({ data }, ['n3f', 'n1'])).toBe(0);
    expect(captured.stdout()).toBe('2 notices are sent again by the running engine, or the next one\n');
    expect(await statesOf(ledger)).toEqual(['waiting', 'dead', 'waiting']);
    await expect(retryDead({ data }, ['n1'])).rejects.toMatchObject({ code: 'noDeadLetters', kind: 'usage' });
  });

  it('of a delivery that waits after a failed try makes it due now, once', async () => {
    const { data, ledger } = await dataFolder();
    await ledger.deliveries.tried('n4', atMs, { state: 'waiting', why: failed, nextDueAtMs: 9e12 });
    const captured = captureOutput();
    expect(await retryDead({ data }, ['n4'])).toBe(0);
    expect(captured.stdout()).toBe('1 notice is sent again by the running engine, or the next one\n');
    expect(await ledger.deliveries.get('n4')).toMatchObject({ state: 'waiting', attempts: 0, dueAtMs: 0 });
    const message = 'n4: due already, for the running engine or the next one';
    await expect(retryDead({ data }, ['n4'])).rejects.toMatchObject({ code: 'noDeadLetters', message });
  });

  it.each([
    [{ code: 'webhookFailed' }, ['waiting', 'dead', 'waiting']],
    [{ all: true }, ['waiting', 'waiting', 'waiting']],
  ])('takes those that %j fits', async (chosen, states) => {
    const { data, ledger } = await dataFolder();
    await documentsOf(() => retryDead({ data, json: true, sandbox: true, ...chosen }, []));
    expect(await statesOf(ledger)).toEqual(states);
  });

  it('--all takes rows and deliveries together', async () => {
    const { data, ledger } = await dataFolder();
    await addDeadRow(ledger);
    const choice = { data, json: true, sandbox: true, all: true, detach: true };
    const documents = await documentsOf(() => retryDead(choice, []));
    expect(documents.slice(0, 3).map(({ id, state }) => `${id} ${state}`)).toEqual([
      'n3f waiting',
      'n2 waiting',
      'n1 waiting',
    ]);
    expect(documents[3]).toMatchObject({ run: expect.any(String), state: 'queued' });
  });
});

describe('dead drop', () => {
  it('drops deliveries by their ids: they are open no longer, and nothing is sent', async () => {
    const { data, ledger } = await dataFolder();
    const captured = captureOutput();
    expect(await dropDead({ data, reason: 'the hook is gone' }, ['n2', 'n4'])).toBe(0);
    expect(captured.stdout()).toBe('1 notice dropped: not sent any more\n');
    expect(captured.stderr()).toContain('1 of those named were not open');
    expect(await ledger.deliveries.get('n2')).toMatchObject({ state: 'dropped' });
    const [act] = await ledger.acts.list({ limit: 1 });
    expect(act).toMatchObject({ kind: 'deadDrop', reason: 'the hook is gone', facts: { notices: 1 } });
    const open = await documentsOf(() => listDead({ ...list, data, json: true }));
    expect(open.map(({ id }) => id)).toEqual(['n3f', 'n1']);
    const dropped = await documentsOf(() => listDead({ ...list, state: 'dropped', data, json: true }));
    expect(dropped).toMatchObject([{ id: 'n2', state: 'dropped' }]);
    const shown = await documentsOf(() => showDead({ data, json: true }, 'n2'));
    expect(shown).toMatchObject([{ id: 'n2', state: 'dropped' }]);
    const refusals = [
      ['n2', 'notice n2 was dropped'],
      ['n4', 'notice n4 still waits to be sent'],
    ] as const;
    for (const [id, message] of refusals)
      await expect(dropDead({ data }, [id])).rejects.toMatchObject({ code: 'letterNotOpen', message });
    await expect(dropDead({ data }, ['n99'])).rejects.toMatchObject({ code: 'noSuchDeadLetter' });
  });

  it('takes those that a code fits, and rows and deliveries together', async () => {
    const { data, ledger } = await dataFolder();
    await addDeadRow(ledger);
    const drop = (choice: object) => documentsOf(() => dropDead({ data, json: true, yes: true, ...choice }, []));
    expect(await drop({ code: 'webhookGone' })).toEqual([{ dropped: 1, exitCode: 0 }]);
    await expect(dropDead({ data, code: 'webhookGone', yes: true }, [])).rejects.toMatchObject({
      code: 'noDeadLetters',
    });
    expect(await drop({ all: true })).toEqual([{ dropped: 3, exitCode: 0 }]);
    expect(await documentsOf(() => listDead({ ...list, data, json: true }))).toEqual([]);
  });
});
