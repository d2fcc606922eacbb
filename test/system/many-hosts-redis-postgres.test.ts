/** Several engines with data folders of their own on one ledger in PostgreSQL and one Redis. */
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import { openPostgresLedger } from '#src/ledger/postgres/ledger.ts';
import { newRun } from '#test/contracts/support/build.ts';
import { newSchema } from '#test/ledger/support/postgres-ledgers.ts';
import { type Journey, test } from '#test/support/journey.ts';
import type { PatchbayProcess } from '#test/support/patchbay-process.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';
import { describeOnServers, type Servers } from '#test/support/with-servers.ts';

/** The figures that `docs/operations.md`, "Many machines", promises. */
const takeoverMsMax = 10_000;

interface Host {
  readonly name: string;
  readonly data: string;
  readonly env: Readonly<Record<string, string>>;
  engine: PatchbayProcess | null;
}

interface Site {
  readonly schema: string;
  readonly url: string;
  host(name: string, more?: Readonly<Record<string, string>>): Host;
}

function siteOn(journey: Journey, servers: Servers): Site {
  const schema = newSchema();
  const url = servers.postgres.url(`&schema=${schema}`);
  return {
    schema,
    url,
    host: (name, more = {}) => {
      const data = join(journey.data, name);
      const env = {
        ...{ DATABASE_URL: url, REDIS_URL: servers.redis.url, PATCHBAY_DATA: data, LOG_LEVEL: 'debug' },
        ...{ PATCHBAY_UPSERT_ROWS_PER_BATCH: '5', PATCHBAY_UPSERT_BATCHES_AT_ONCE: '1', PATCHBAY_UPSERT_LEASE: '20s' },
        ...more,
      };
      return { name, data, env, engine: null };
    },
  };
}

async function startHost(journey: Journey, host: Host): Promise<PatchbayProcess> {
  host.engine = journey.start(['start', '--json'], host.env);
  await host.engine.firstLine();
  return host.engine;
}

/** As a program does that writes exports: complete at once. */
function drop(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.part`), text);
  renameSync(join(folder, `${name}.part`), join(folder, name));
}

const batchesOf = (one: PatchbayProcess | null): number =>
  one?.stderr.match(/"job":"upsert-batch".*"job done"/g)?.length ?? 0;

async function statusOf(journey: Journey, host: Host) {
  const { documents, stderr } = await journey.call(['status', '--json'], host.env);
  if (documents[0] === undefined) throw new Error(stderr);
  return documents[0];
}

async function runsOf(site: Site) {
  const ledger = await openPostgresLedger(site.url);
  try {
    return (await ledger.runs.list({ limit: 200 })).toReversed();
  } finally {
    await ledger.close();
  }
}

const atEnd = (site: Site, count: number) =>
  until(`the end of ${count} runs`, async () => {
    const runs = await runsOf(site);
    return runs.length === count && runs.every(({ state }) => state === 'done') && runs;
  });

async function interrupted(...hosts: readonly Host[]): Promise<void> {
  for (const { engine } of hosts) {
    if (engine === null) continue;
    engine.signal('SIGTERM');
    const { code, stderr } = await engine.ended();
    expect(code, stderr).toBe(143);
    expect(stderr).not.toContain('"level":"error"');
  }
}

describeOnServers('several hosts on one ledger', (servers) => {
  test('both work on the batches of one file, and its results are where it was dropped', async ({ journey }) => {
    const service = await journey.service(['create:latency=40ms']);
    const site = siteOn(journey, servers());
    const [one, other] = [site.host('one'), site.host('other')];
    await startHost(journey, one);
    await startHost(journey, other);
    drop(join(other.data, 'import', 'crm'), 'people.csv', peopleCsv(120));
    const [run] = await atEnd(site, 1);
    expect(run?.counts).toMatchObject({ rows: 120, created: 120, adopted: 0, dead: 0 });
    expect(await service.keys()).toEqual(peopleKeys(120));
    expect(service.createCount(), 'no POST is repeated').toBe(120);
    expect(batchesOf(one.engine)).toBeGreaterThan(0);
    expect(batchesOf(other.engine)).toBeGreaterThan(0);
    expect(journey.names('other/reports')).toContain(`${run?.id}.json`);
    expect(journey.names('other/import/_done')).toContain(`${run?.id}__people.csv`);
    expect(journey.names('one/reports')).toEqual([]);
    const { hosts } = await statusOf(journey, one);
    expect(hosts.map(({ state }: { state: string }) => state).toSorted()).toEqual(['leads', 'works']);
    await interrupted(one, other);
  });

  test('a command that only reads uses the queue of the hosts, on a host whose engine runs and on one where none does', async ({
    journey,
  }) => {
    await journey.service();
    const site = siteOn(journey, servers());
    const [one, other, third] = [site.host('one'), site.host('other'), site.host('third')];
    await startHost(journey, one);
    await startHost(journey, other);
    drop(join(one.data, 'import'), 'people.csv', peopleCsv(3));
    await atEnd(site, 1);
    const [key] = peopleKeys(1);
    const file = join(journey.data, 'more.csv');
    writeFileSync(file, peopleCsv(4));
    for (const { env } of [one, other, third]) {
      const told = await journey.call(['contact', key ?? '', '--json'], env);
      expect(told.code, told.stderr).toBe(0);
      expect(told.documents[0]).toMatchObject({ key, app: { read: 'fresh' } });
      const planned = await journey.call(['plan', file, '--json'], env);
      expect(planned.documents[0], planned.stderr).toMatchObject({ unchanged: 3, created: 1, exitCode: 0 });
    }
    await interrupted(one, other);
  });

  test('a host that starts while a 429 holds requests back lets the others work', async ({ journey }) => {
    const service = await journey.service();
    const site = siteOn(journey, servers());
    const [one, other] = [site.host('one'), site.host('other')];
    await startHost(journey, one);
    await service.setFaults(['*:status=429;retryAfter=60']);
    const plan = await journey.call(['plan', journey.file('people.csv', peopleCsv(3)), '--json'], one.env);
    expect(plan, plan.stderr).toMatchObject({ code: 6, documents: [{ error: { code: 'rateLimited' } }] });
    await service.setFaults([]);
    await startHost(journey, other);
    expect(await statusOf(journey, one)).toMatchObject({ paused: null });
    await interrupted(one, other);
  });

  test('the leader that is killed, and the one that is frozen, is followed within ten seconds; no tick comes twice', async ({
    journey,
  }) => {
    await journey.service();
    const site = siteOn(journey, servers());
    const every = { PATCHBAY_SNAPSHOTS_PHONE_NUMBERS_EVERY: '10s' };
    const [one, other] = [site.host('one', every), site.host('other', every)];
    const ledger = await openPostgresLedger(site.url);
    onTestFinished(() => ledger.close());
    const leads = async (host: Host) =>
      (await ledger.hosts.list()).some(({ name, leads }) => leads && name.endsWith(host.data));
    await startHost(journey, one);
    await until('the lead of the first', () => leads(one));
    const started = await startHost(journey, other);
    expect(await leads(other)).toBe(false);

    process.kill(one.engine?.pid ?? 0, 'SIGSTOP');
    const frozenAtMs = performance.now();
    await until('the lead of the other', () => leads(other));
    expect(performance.now() - frozenAtMs).toBeLessThan(takeoverMsMax);
    process.kill(one.engine?.pid ?? 0, 'SIGCONT');
    await until('a word of the first', () => one.engine?.stderr.includes('this engine leads no longer'));
    await until('its entry', async () => !(await leads(one)));
    expect(await leads(other)).toBe(true);

    await started.kill();
    const killedAtMs = performance.now();
    await until('the lead of the first again', () => leads(one));
    expect(performance.now() - killedAtMs).toBeLessThan(takeoverMsMax);
    const ticks = await until('three ticks', async () => {
      const some = await ledger.schedules.ticks('phone-numbers', 100);
      return some.filter(({ state }) => state === 'ended').length >= 3 && some;
    });
    expect(new Set(ticks.map(({ dueAtMs }) => dueAtMs)).size).toBe(ticks.length);
    await interrupted(one);
  });

  test('a host that is killed with a file unread is named with it; later files go on, and its older rows give way when it is back', async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=100ms']);
    const notices = await startWebhook();
    const site = siteOn(journey, servers());
    // At this rate most of the first file is still to be written when the host dies.
    const slowly = { PATCHBAY_RATE: '40' };
    const more = { ...slowly, PATCHBAY_NOTIFY_URL: notices.url, PATCHBAY_GUARDS_UPDATES_MAX: '100%' };
    const [one, other] = [site.host('one', more), site.host('other', more)];
    await startHost(journey, one);
    await startHost(journey, other);
    // The second file waits behind the first, which is being applied, when the host dies.
    drop(join(one.data, 'import', 'crm'), '1.csv', peopleCsv(60, { company: 'First' }));
    drop(join(one.data, 'import', 'crm'), '2.csv', peopleCsv(62, { company: 'Older' }));
    await until('both runs', async () => (await runsOf(site)).length === 2);
    await service.creates(5);
    await one.engine?.kill();
    await service.setFaults([]);
    drop(join(other.data, 'import', 'crm'), '3.csv', peopleCsv(60, { company: 'Newer' }));
    await until('the end of the third run', async () => (await runsOf(site))[2]?.state === 'done');
    expect((await runsOf(site)).map(({ state }) => state)).toEqual(['applying', 'queued', 'done']);
    const { hosts, feeds } = await statusOf(journey, other);
    const away = hosts.find(({ name }: { name: string }) => name.endsWith(one.data));
    expect(away).toMatchObject({
      state: 'away',
      isThis: false,
      waiting: [
        { feed: 'crm', file: '1.csv', isUnread: false },
        { feed: 'crm', file: '2.csv', isUnread: true },
      ],
    });
    expect(feeds).toMatchObject([{ feed: 'crm', troubles: ['hostAway'] }]);
    const notice = await until('the notice', () => notices.bodies.find(({ type }) => type === 'feed.bad'));
    expect(notice.data).toMatchObject({ began: [{ trouble: 'hostAway', file: '2.csv', host: away.name }] });

    await startHost(journey, one);
    const runs = await atEnd(site, 3);
    expect(runs[1]?.counts).toMatchObject({ rows: 62, created: 2, updated: 0, skipped: 60, dead: 0 });
    const people = await service.people();
    expect(people.size).toBe(62);
    for (const key of peopleKeys(60)) expect(people.get(key)?.company).toBe('Newer');
    const reports = journey.names('one/reports').filter((name) => /^[^.]+\.json$/.test(name));
    expect(reports).toEqual([`${runs[0]?.id}.json`, `${runs[1]?.id}.json`]);
    await until('the recovery', () => notices.bodies.some(({ type }) => type === 'feed.recovered'));
    await interrupted(one, other);
  });

  test('each file of an import folder that they share is taken once', async ({ journey }) => {
    const service = await journey.service();
    const site = siteOn(journey, servers());
    // Perhaps on another device than the data folders, as a share is.
    const share = mkdtempSync('/tmp/pb-share-');
    onTestFinished(() => rmSync(share, { recursive: true, force: true }));
    const [one, other] = [site.host('one', { PATCHBAY_IMPORT: share }), site.host('other', { PATCHBAY_IMPORT: share })];
    await startHost(journey, one);
    await startHost(journey, other);
    let count = 0;
    let runs: Awaited<ReturnType<typeof atEnd>> = [];
    const hosts = () => new Set(runs.map(({ host }) => host)).size;
    // Ends after five rounds: which host scans first is up to the machine, and one may take all files of a round.
    for (let round = 1; round <= 5 && hosts() < 2; round += 1) {
      for (const last = round * 40; count < last; ) {
        count += 1;
        drop(join(share, `feed ${count % 8}`), `f${count}.csv`, peopleCsv(3, { prefix: `f${count}` }));
      }
      runs = await atEnd(site, count);
    }
    expect(runs.map(({ fileName }) => fileName).toSorted()).toEqual(
      Array.from({ length: count }, (_, index) => `f${index + 1}.csv`).toSorted(),
    );
    expect(hosts(), 'both take files').toBe(2);
    expect(await service.keys()).toHaveLength(3 * count);
    expect(readdirSync(join(share, '_done')).filter((name) => name.endsWith('.csv'))).toHaveLength(count);
    await interrupted(one, other);
  });

  test('a flushed queue costs nothing, and a worker elsewhere needs no data folder of theirs', async ({ journey }) => {
    const service = await journey.service(['create:latency=40ms']);
    const site = siteOn(journey, servers());
    const [one, other, elsewhere] = [site.host('one'), site.host('other'), site.host('elsewhere')];
    const alone = await journey.run(['start', '--worker', '--json'], elsewhere.env);
    expect(alone.documents, alone.stderr).toMatchObject([{ error: { code: 'noEngine' }, exitCode: 2 }]);
    await startHost(journey, one);
    await startHost(journey, other);
    const worker = journey.start(['start', '--worker', '--json'], elsewhere.env);
    await worker.firstLine();
    drop(join(one.data, 'import'), 'people.csv', peopleCsv(150));
    const redis = new Redis(servers().redis.url);
    for (const creates of [20, 60, 100]) {
      await service.creates(creates);
      await redis.flushall();
    }
    redis.disconnect();
    const [run] = await atEnd(site, 1);
    expect(run?.counts).toMatchObject({ rows: 150, created: 150, dead: 0 });
    expect(await service.keys()).toEqual(peopleKeys(150));
    expect(service.createCount(), 'no POST is repeated').toBe(150);
    expect(batchesOf(worker)).toBeGreaterThan(0);
    worker.signal('SIGTERM');
    expect((await worker.ended()).code).toBe(143);
    await interrupted(one, other);
  });

  test('a worker that is stopped while it looks for the queue of the hosts ends as one that is stopped', async ({
    journey,
  }) => {
    await journey.service();
    const site = siteOn(journey, servers());
    const one = site.host('one');
    await startHost(journey, one);
    const { hostname, port } = new URL(servers().redis.url);
    // Not by the client, which fails where a line of the monitor comes with the answer that it has begun.
    const monitor = connect(Number(port), hostname);
    onTestFinished(() => void monitor.destroy());
    monitor.write('MONITOR\r\n');
    let seen = '';
    monitor.setEncoding('utf8').on('data', (piece: string) => {
      seen += piece;
    });
    await once(monitor, 'data');
    const astray = site.host('astray', { REDIS_URL: `${servers().redis.url}/4` });
    const worker = journey.start(['start', '--worker', '--json'], astray.env);
    await until('the worker to look for the queue', () => /\[4 [^\]]*\] "get" "[^"]*-queue"/.test(seen));
    worker.signal('SIGTERM');
    const { code, documents, stderr } = await worker.ended();
    expect(documents, stderr).toMatchObject([{ error: { code: 'interrupted' }, exitCode: 143 }]);
    expect(code, stderr).toBe(143);
    expect(stderr).not.toContain('defect');
    await interrupted(one);
  });

  test('another Redis, an embedded queue and a copied data folder are refused by name', async ({ journey }) => {
    await journey.service();
    const site = siteOn(journey, servers());
    const one = site.host('one');
    await startHost(journey, one);
    const refusedWith = async (host: Host) => {
      const { code, documents, stderr } = await journey.run(['start', '--json'], host.env);
      expect(code, stderr).toBe(2);
      return documents[0].error;
    };
    const queueLine = async (host: Host) => {
      const { code, documents } = await journey.call(['doctor', '--json'], host.env);
      const line = documents[0].checks.find(({ check }: { readonly check: string }) => check === 'queue');
      return { code, ...line };
    };
    const embedded = site.host('embedded', { REDIS_URL: '' });
    expect(await refusedWith(embedded)).toMatchObject({
      code: 'queueNotShared',
      hint: expect.stringContaining('REDIS_URL'),
    });
    // A database of the same server is another queue, too.
    const astray = site.host('astray', { REDIS_URL: `${servers().redis.url}/3` });
    expect(await refusedWith(astray)).toMatchObject({
      code: 'otherQueue',
      message: expect.stringContaining(one.data),
    });
    expect(await Promise.all([embedded, astray, site.host('right')].map(queueLine))).toMatchObject([
      { code: 2, ok: false, detail: expect.stringMatching(/^The host .* is embedded.*\. Set REDIS_URL/) },
      {
        code: 2,
        ok: false,
        detail: expect.stringMatching(/^REDIS_URL names another Redis than that of .*\. All hosts/),
      },
      { code: 0, ok: true, detail: 'Redis answers' },
    ]);
    const copy = site.host('copy');
    mkdirSync(copy.data, { recursive: true });
    copyFileSync(join(one.data, 'host.id'), join(copy.data, 'host.id'));
    expect(await refusedWith(copy)).toMatchObject({ code: 'hostTaken', message: expect.stringContaining(one.data) });
    await interrupted(one);
  });

  test('an import that is refused by name enters nothing, and a run whose host has stopped is followed as far as others may go', async ({
    journey,
  }) => {
    const service = await journey.service();
    const site = siteOn(journey, servers());
    const [one, cron] = [site.host('one'), site.host('cron')];
    await startHost(journey, one);
    const changed = journey.file('changed.csv', peopleCsv(20, { company: 'Harbor & Sons' }));
    await journey.run(['import', journey.file('people.csv', peopleCsv(20))], cron.env);
    const stopped = await journey.run(['import', '--json', changed], cron.env);
    expect(stopped.documents[0], stopped.stderr).toMatchObject({ state: 'stopped', pending: 20 });
    const statesOf = async () => (await runsOf(site)).map(({ id, state, reason }) => ({ id, state, reason }));
    const before = await statesOf();
    expect(before.map(({ state }) => state)).toEqual(['done', 'stopped']);

    const copy = site.host('copy');
    mkdirSync(copy.data, { recursive: true });
    copyFileSync(join(one.data, 'host.id'), join(copy.data, 'host.id'));
    const refusedWith = async (host: Host, ...files: readonly string[]) => {
      const { code, documents, stderr } = await journey.run(['import', '--json', ...files], host.env);
      const { error, exitCode } = documents[0];
      expect(code, stderr).toBe(exitCode);
      // The embedded queue is no way out.
      expect(error.hint).not.toContain('unset');
      return `${exitCode} ${error.code}`;
    };
    const more = journey.file('more.csv', peopleCsv(5, { prefix: 'q' }));
    expect(
      await Promise.all([
        refusedWith(site.host('embedded', { REDIS_URL: '' }), changed),
        refusedWith(site.host('astray', { REDIS_URL: `${servers().redis.url}/3` }), changed),
        refusedWith(site.host('unreachable', { REDIS_URL: 'redis://127.0.0.1:9' }), changed),
        refusedWith(copy, more, changed),
      ]),
    ).toEqual(['2 queueNotShared', '2 otherQueue', '6 queueUnreachable', '2 hostTaken']);
    expect(await statesOf()).toEqual(before);
    expect(journey.names('copy/handed-over')).toEqual([]);
    expect(service.writeCount()).toBe(20);
    const { documents: acts } = await journey.run(['logs', '--acts', '--json'], one.env);
    expect(acts.map(({ kind }) => kind)).toEqual(['import', 'import']);

    // The others write its rows; its results are for its host to write, which has stopped. The same command says so again.
    const { run: id } = stopped.documents[0];
    for (const note of ['handing over', 'was approved already: following it']) {
      const waited = await journey.run(['runs', 'approve', id, '--json', '--wait', '10s'], one.env);
      expect(waited.stderr).toContain(note);
      expect(waited.documents[0], waited.stderr).toMatchObject({ updated: 20, pending: 0, exitCode: 6 });
      expect(waited.documents[0].error).toMatchObject({
        code: 'hostAway',
        message: expect.stringContaining(`${cron.data}, which has been stopped since`),
        hint: expect.stringContaining('patchbay hosts forget'),
      });
    }
    const back = await journey.run(['import', '--json', more], cron.env);
    expect(back.documents[0], back.stderr).toMatchObject({ state: 'done', created: 5 });
    expect((await runsOf(site)).map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    await interrupted(one);
  });

  test('a one-shot works beside the others, and a host that is gone for good is given up', async ({ journey }) => {
    const service = await journey.service();
    const site = siteOn(journey, servers());
    const [one, other, cron] = [site.host('one'), site.host('other'), site.host('cron')];
    await startHost(journey, one);
    const shot = await journey.run(['import', '--json', journey.file('people.csv', peopleCsv(40))], cron.env);
    expect(shot.documents[0], shot.stderr).toMatchObject({ state: 'done', rows: 40, created: 40 });
    expect(shot.documents[0].report).toContain(cron.data);
    const changed = journey.file('changed.csv', peopleCsv(40, { company: 'Harbor & Sons' }));
    const stopped = await journey.run(['import', '--json', changed], cron.env);
    expect(stopped.documents[0], stopped.stderr).toMatchObject({ state: 'stopped', pending: 40 });

    await startHost(journey, other);
    const late = journey.start(['import', '--json', journey.file('late.csv', peopleCsv(5, { prefix: 'q' }))], {
      ...cron.env,
      PATCHBAY_BASE_URL: service.origin,
    });
    await late.ended();
    // A host that never read its file.
    const ledger = await openPostgresLedger(site.url);
    onTestFinished(() => ledger.close());
    const gone = (await ledger.hosts.list()).find(({ name }) => name.endsWith(cron.data));
    await ledger.runs.create(newRun('20261121T140000Z-00000a', { host: gone?.id ?? '', fileName: 'never.csv' }));
    await until('its silence', async () =>
      (await statusOf(journey, other)).hosts.some(({ state }: { state: string }) => state === 'stopped'),
    );
    const forgotten = await journey.run(['hosts', 'forget', gone?.id ?? '', '--json'], other.env);
    expect(forgotten.documents[0], forgotten.stderr).toMatchObject({ host: gone?.id, runs: 2 });
    const ended = await until('its end', async () => {
      const run = await ledger.runs.get('20261121T140000Z-00000a');
      return run?.state === 'cancelled' && run;
    });
    expect(ended.reason).toMatchObject({ code: 'hostForgotten' });
    const refused = await journey.run(['hosts', 'forget', one.data, '--json'], other.env);
    expect(refused.documents[0]).toMatchObject({ error: { code: 'noSuchHost' } });

    // Its disk is gone, too: what is staged is the last copy of the file.
    rmSync(cron.data, { recursive: true });
    const { run: id } = stopped.documents[0];
    const restaged = await journey.run(['runs', 'restage', id, '--json'], other.env);
    expect(restaged.documents[0], restaged.stderr).toMatchObject({ error: { code: 'restageUnreadable' }, exitCode: 2 });
    expect(restaged.stdout).not.toContain(cron.data);
    const approved = await journey.run(['runs', 'approve', id, '--json'], other.env);
    expect(approved.documents[0], approved.stderr).toMatchObject({ state: 'done', updated: 40 });
    await interrupted(one, other);
  });
});

/** Receives notices. */
async function startWebhook() {
  // biome-ignore lint/suspicious/noExplicitAny: literal JSON, whose shape is what the tests are about
  const bodies: any[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      bodies.push(JSON.parse(text));
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the webhook has a port');
  return { url: `http://127.0.0.1:${address.port}/hook`, bodies };
}
