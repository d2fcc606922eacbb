/**
 * The JSON of each page is the document that the command line prints, and what the page alone has (`docs/contract.md`, "Page and
 * probes"): on a data folder with runs of each kind, a stopped run with its plan, a schedule that failed, one that is paused, and a
 * snapshot.
 */
import { expect, onTestFinished } from 'vitest';
import { openHome } from '#src/app.ts';
import { loadConfig } from '#src/config/load.ts';
import { checkSurroundings } from '#src/engine/surroundings.ts';
import { silentLogger } from '#src/log.ts';
import { openPages } from '#test/dashboard/dashboard-bench.ts';
import { type Journey, test } from '#test/support/journey.ts';
import type { LiteralJson } from '#test/support/literal-json.ts';

const config = `feeds:
  crm:
    take: ./shop
    every: 1h
  shop:
    take: ./shop/*.csv
    every: 1h
    kind: full
`;

async function lived(journey: Journey) {
  const service = await journey.service();
  const env = { PATCHBAY_CONFIG: journey.file('patchbay.yaml', config), PATCHBAY_GUARDS_DEAD_FLOOR: '1' };
  journey.file('shop/a.csv', 'externalId,firstName,phone\ns-1,Sue,+14155550111\ns-2,Sam,\n');
  const calls = [
    [
      ...['import', '--max-dead', '100%'],
      journey.file('a.csv', 'externalId,firstName,role,phone\nc-1,Ann,Lead,+14155550101\nc-2,Bo,Chef,call me\n'),
    ],
    ['import', journey.file('b.csv', 'externalId,firstName,role,phone\nc-1,Ann,Buyer,+14155550101\n')],
    ['import', '--max-dead', '0', journey.file('c.csv', 'externalId,firstName,phone\nc-3,Cy,call me\nc-4,Di,\n')],
    ['schedule', 'run', 'crm'],
    ['schedule', 'run', 'shop'],
    ['schedule', 'pause', 'crm', '--reason', 'the export moves'],
    ['numbers', 'snapshot'],
  ];
  const codes: number[] = [];
  for (const words of calls) codes.push((await journey.call(words, env)).code ?? -1);
  const [, updated] = await journey.runs();
  codes.push((await journey.call(['runs', 'undo', updated?.id ?? '', '--yes'], env)).code ?? -1);
  const named = { PATCHBAY_BASE_URL: service.origin, PATCHBAY_API_KEY: service.key, PATCHBAY_DATA: journey.data };
  const loaded = await loadConfig({ env: { ...env, ...named }, flags: {}, configPath: null, cwd: journey.data });
  const home = await openHome(loaded.config, silentLogger(), { sandboxAsked: false, look: true });
  onTestFinished(() => home.close());
  const pages = openPages(home, { surroundings: () => checkSurroundings(home) });
  const documents = async (words: readonly string[]): Promise<LiteralJson[]> => [
    ...(await journey.call(['--json', ...words], env)).documents,
  ];
  return { codes, pages, documents };
}

test('the JSON of each page is that of its command', async ({ journey }) => {
  const { codes, pages, documents } = await lived(journey);
  expect(codes).toEqual([3, 0, 5, 3, 0, 0, 0, 0]);

  const runs = await documents(['runs', 'ls']);
  expect(runs.map(({ state }) => state).toSorted()).toEqual(['done', 'done', 'done', 'doneWithDead', 'stopped']);
  expect((await pages.json('/runs')).body).toEqual(runs);

  for (const { run, state } of runs) {
    // Of a stopped run the first one makes the plan, which is kept.
    if (state === 'stopped') await documents(['runs', 'show', run]);
    const [shown] = await documents(['runs', 'show', run]);
    if (state === 'stopped') expect(shown.plan.contacts).toHaveLength(1);
    else expect([shown.plan, shown.changes.length]).toEqual([null, shown.created + shown.updated]);
    const { body } = await pages.json(`/runs/${run}`);
    const error = shown.error === undefined ? {} : { error: { ...shown.error, facts: body.error.facts } };
    expect(body).toEqual({ ...shown, ...error, changesComplete: true });
  }

  const letters = await documents(['dead', 'ls']);
  expect(letters).toHaveLength(2);
  expect((await pages.json('/dead-letters')).body).toEqual(letters);

  const schedules = await documents(['schedule', 'ls']);
  const [snapshot] = await documents(['numbers', 'snapshot']);
  const feeds = (await pages.json('/feeds')).body;
  for (const { feed, schedule, lastRun } of feeds.feeds) {
    const listed = schedules.find(({ name }) => name === feed) ?? null;
    const before = { words: listed?.when, due: listed?.dueAt, paused: listed?.pausedAt };
    expect(schedule, feed).toEqual(listed === null ? null : { ...listed, ...before });
    expect(lastRun, feed).toEqual(runs.find((run) => run.feed === feed) ?? null);
  }
  expect(feeds.feeds.map((one: LiteralJson) => one.feed)).toEqual(['crm', 'main', 'shop']);
  expect(feeds.phoneNumbers.latest).toMatchObject({ file: snapshot.file, count: snapshot.count });
  expect(Object.keys(feeds.phoneNumbers.latest)).toEqual(Object.keys(snapshot));

  const [status] = await documents(['status']);
  const { runs: last, deadLetterGroups, ...overview } = (await pages.json('/')).body;
  const ofPage = ['version', 'serviceOrigin', 'queue', 'importFolders', 'ready', 'troubles'];
  const ofBoth = Object.fromEntries(Object.entries(overview).filter(([name]) => !ofPage.includes(name)));
  const moving = { surroundings: { ...status.surroundings, diskFreeBytes: expect.any(Number) } };
  expect(ofBoth).toEqual({ ...status, ...moving });
  expect(Object.keys(overview)).toEqual([...Object.keys(status), ...ofPage]);
  expect(last).toEqual(runs);
  expect(deadLetterGroups.map((group: LiteralJson) => group.example)).toEqual([letters.at(-1)]);

  const { text } = await pages.page('/feeds');
  expect(text).toMatch(/failed <code>notAFile<\/code>: <bdi>.*shop.*<\/bdi>/);
  expect(text).toContain(': <bdi>the export moves</bdi>');
});
