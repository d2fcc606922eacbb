/** Lists go page by page, and by state, feed and code; acts answer with what they did and print nothing. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deadLetterPages, listDeadLetters, readDeadLetter, retryLetters } from '#src/operations/dead-letters.ts';
import { chooseHeld, readHeldPage } from '#src/operations/held-fields.ts';
import { requireChosen } from '#src/operations/letter-selection.ts';
import { cancelRun } from '#src/operations/run-acts.ts';
import { findRun, listRuns, type RunHome } from '#src/operations/runs.ts';
import { newRun, stagingRun } from '#test/contracts/support/build.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { csv, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const header = 'externalId,firstName,phone';

function homeOf({
  parts,
}: RunsBench): RunHome & Pick<RunsBench['parts'], 'actor'> & { readonly submit: RunsBench['parts'] } {
  const { ledger, clock, serviceName, actor } = parts;
  return { ledger, clock, serviceName, actor, runFolders: parts.folders, submit: parts };
}

const rejected = (keys: readonly string[]): string =>
  csv(
    keys.map((key) => `${key},Ann,call me`),
    header,
  );

describe('runs', () => {
  it('are listed newest first, page by page, by feed and by state', async () => {
    const bench = await openRunsBench();
    const home = homeOf(bench);
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c'])
      ids.unshift((await bench.import(`${name}.csv`, csv([`${name},Ann,`], header))).id);
    const shop = await bench.import('shop.csv', rejected(['s']), { feed: 'shop' });
    const idsOf = async (query: Partial<Parameters<typeof listRuns>[1]>): Promise<readonly string[]> =>
      (await listRuns(home, { limit: 2, ...query })).map(({ summary }) => summary.run);
    expect(await idsOf({})).toEqual([shop.id, ids[0]]);
    expect(await idsOf({ after: ids[0] ?? '' })).toEqual([ids[1], ids[2]]);
    expect(await idsOf({ after: ids[2] ?? '' })).toEqual([]);
    expect(await idsOf({ feed: 'shop' })).toEqual([shop.id]);
    expect(await idsOf({ states: ['doneWithDead'] })).toEqual([shop.id]);
    await expect(idsOf({ after: 'nothing' })).rejects.toMatchObject({ kind: 'usage', code: 'noSuchRun' });
  });

  it('are found by the end of their id, where it is one run’s', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,'], header));
    expect(await findRun(bench.parts, run.id.slice(-6))).toMatchObject({ id: run.id });
    await expect(findRun(bench.parts, run.id.slice(-3))).rejects.toMatchObject({ code: 'noSuchRun' });
  });

  it('are found by the end of their id however many have come since', async () => {
    const { ledger, close } = await openTempLedger();
    onTestFinished(close);
    const run = await stagingRun(ledger, '20261121T140000Z-0a1b2c');
    for (let later = 0; later < 1_001; later += 1) await ledger.runs.create(newRun(`later-${later}`));
    expect(await findRun({ ledger }, '0a1b2c')).toMatchObject({ id: run.id });
  });

  it('are cancelled once', async () => {
    const bench = await openRunsBench();
    const run = await bench.submit('a.csv', csv(['c-1,Ann,'], header));
    await cancelRun(bench.parts, run);
    expect(await bench.parts.ledger.runs.get(run.id)).toMatchObject({ state: 'cancelling' });
    const refusal = { kind: 'usage', code: 'notCancellable', hint: expect.stringContaining('patchbay runs ls') };
    const again = { ...refusal, message: `run ${run.id} cannot be cancelled: it is being cancelled already` };
    await expect(cancelRun(bench.parts, run)).rejects.toMatchObject(again);
    const done = await bench.import('b.csv', csv(['c-2,Ben,'], header));
    const ended = { ...refusal, message: `run ${done.id} cannot be cancelled: it has ended (done)` };
    await expect(cancelRun(bench.parts, done)).rejects.toMatchObject(ended);
  });
});

describe('dead letters', () => {
  it('are listed page by page without gaps, by feed and by state', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', rejected(['c-1', 'c-2', 'c-3']));
    await bench.import('shop.csv', rejected(['s-1']), { feed: 'shop' });
    const keys: (string | null)[] = [];
    let after: { readonly after?: string } = {};
    // Ends with the first empty page.
    for (;;) {
      const { letters } = await listDeadLetters(bench.parts, { state: 'open', limit: 2, ...after }, (letter) => letter);
      const last = letters.at(-1);
      if (last === undefined) break;
      keys.push(...letters.map(({ key }) => key));
      after = { after: last.id };
    }
    expect(keys.toSorted()).toEqual(['c-1', 'c-2', 'c-3', 's-1']);
    const shop = await listDeadLetters(bench.parts, { state: 'all', feed: 'shop', limit: 10 }, (letter) => letter);
    expect(shop.letters.map(({ key }) => key)).toEqual(['s-1']);
    expect((await listDeadLetters(bench.parts, { state: 'closed', limit: 10 }, (letter) => letter)).letters).toEqual(
      [],
    );
    const nowhere = { kind: 'usage', code: 'noSuchDeadLetter' };
    await expect(
      listDeadLetters(bench.parts, { state: 'open', limit: 2, after: 'd0' }, (letter) => letter),
    ).rejects.toMatchObject(nowhere);
    await expect(readDeadLetter(bench.parts, 'd0')).rejects.toMatchObject(nowhere);
  });

  it('are read in pages where the list is long, whatever is met again meanwhile', async () => {
    const bench = await openRunsBench();
    const keys = Array.from({ length: 300 }, (_, index) => `c-${index}`);
    await bench.import('a.csv', rejected(keys));
    const listed: (string | null)[] = [];
    const sizes: number[] = [];
    for await (const { letters } of deadLetterPages(bench.parts, { state: 'open', limit: 1_000 })) {
      listed.push(...letters.map(({ key }) => key));
      sizes.push(letters.length);
      if (sizes.length === 1) await bench.import('b.csv', rejected([letters.at(-1)?.key ?? '']));
    }
    expect(sizes).toEqual([250, 50]);
    expect(new Set(listed)).toEqual(new Set(keys));
  });

  it('are tried again by what was chosen, and nothing is chosen by silence', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', rejected(['c-1']));
    expect(() => requireChosen({ ids: [] })).toThrow(expect.objectContaining({ code: 'nothingChosen' }));
    const written = vi.spyOn(process.stdout, 'write');
    const [run] = await retryLetters(homeOf(bench), { ids: [], all: true });
    expect(run).toMatchObject({ kind: 'redrive', state: 'queued' });
    expect(written).not.toHaveBeenCalled();
    written.mockRestore();
    const other = { ids: [], all: true, code: 'refused' };
    await expect(retryLetters(homeOf(bench), other)).rejects.toMatchObject({ code: 'noDeadLetters' });
  });

  it('are gone on with where the same retry was interrupted, and those beside it are tried again, too', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', rejected(['c-1', 'c-2']));
    const [first] = await bench.letters();
    const [run] = await retryLetters(homeOf(bench), { ids: [], all: true });
    const told: (readonly [string, boolean])[] = [];
    const again = (request: Parameters<typeof retryLetters>[1]) =>
      retryLetters(homeOf(bench), request, ({ run: { id }, resumed }) => told.push([id, resumed]));
    for (const request of [{ ids: [], all: true }, { ids: [first?.id ?? ''] }, { ids: [], feed: 'main' }])
      expect((await again(request)).map(({ id }) => id)).toEqual([run?.id]);
    expect(told).toEqual([1, 2, 3].map(() => [run?.id, true]));
    await bench.import('b.csv', rejected(['c-3']));
    const both = await again({ ids: [], all: true });
    expect(both.map(({ id }) => id)).toEqual([run?.id, expect.any(String)]);
    expect(told.slice(3)).toEqual(both.map(({ id }) => [id, id === run?.id]));
  });

  it('are tried anew where the retry has ended', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', rejected(['c-1']));
    const [run] = await retryLetters(homeOf(bench), { ids: [], all: true });
    await bench.carryOut(run as NonNullable<typeof run>);
    const [next] = await retryLetters(homeOf(bench), { ids: [], all: true });
    expect(next?.id).not.toBe(run?.id);
  });
});

describe('held fields', () => {
  it('are counted beyond the page, and keys without any are named', async () => {
    const bench = await openRunsBench();
    const wide = 'externalId,role,company';
    await bench.import('a.csv', csv(['c-1,X,X'], wide));
    const { id } = await bench.world.contactOf('c-1');
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { role: 'Y', company: 'Y' } });
    await bench.import('b.csv', csv(['c-1,Z,Z'], wide));
    expect(await readHeldPage(bench.parts, { limit: 1 })).toMatchObject({ held: [{ field: 'company' }], moreCount: 1 });
    const after = { feed: 'main', key: 'c-1', field: 'company' } as const;
    const next = await readHeldPage(bench.parts, { limit: 5, after });
    expect(next).toMatchObject({ held: [{ field: 'role' }], moreCount: 0 });
    expect(await chooseHeld(bench.parts, { keys: ['c-1', 'c-9'] })).toMatchObject({ missingKeys: ['c-9'] });
    const none = { code: 'noHeldFields', hint: 'List the held fields with: patchbay held ls' };
    await expect(chooseHeld(bench.parts, { keys: ['c-9'] })).rejects.toMatchObject(none);
  });
});
