/**
 * The composition as users bring it up, on a real container engine: healthy by one command, an import of 5,000 rows in trouble, a rolling
 * restart, and a backup that is restored. PATCHBAY_TEST_SEED repeats the trouble.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import { composition, type ShownRun } from './support/composition.ts';
import { describeOnCompose, startTimeoutMs } from './support/engine.ts';
import { randomOf, troublesOf } from './support/trouble-maker.ts';

const seed = Number(process.env.PATCHBAY_TEST_SEED ?? Math.floor(Math.random() * 1e6));
const rowCount = 5_000;
/** Eight of ten, as by default: the service counts what arrives, and requests may arrive closer together than they were sent. */
const rate = 40;
const serviceRate = 50;
const runTimeoutMs = 900_000;
const lookEveryMs = 500;

const say = (text: string): void => void process.stderr.write(`composition: ${text}\n`);

describeOnCompose('the composition', () => {
  const on = composition({ rate, serviceRate });
  const startedAt = performance.now();

  beforeAll(async () => {
    await on.compose('up', '--build', '--detach', '--wait', '--scale', 'worker=3');
    say(`healthy after ${seconds(startedAt)} s`);
  }, startTimeoutMs);
  afterAll(async () => {
    await on.close();
  }, startTimeoutMs);

  /** Waits for the end of the run of that file. */
  const ended = async (file: string): Promise<ShownRun> => {
    // Ends with the run, or with the test's time.
    for (;;) {
      const run = await on.lastRun();
      if (run?.file === file && ['done', 'doneWithDead', 'failed', 'stopped'].includes(run.state)) return run;
      await sleep(lookEveryMs);
    }
  };

  it('runs without root and without rights, on file systems that are read-only, within limits', async () => {
    for (const service of ['engine', 'worker', 'service']) {
      const name = on.container(service);
      const said = await on.docker(
        'exec',
        name,
        'sh',
        '-c',
        'id -u; grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/1/status; touch /app/x 2>&1 || true',
      );
      expect(said, service).toMatch(/^1000\n/);
      expect(said, service).toMatch(/CapEff:\t0+\n.*CapBnd:\t0+\n.*NoNewPrivs:\t1\n/s);
      expect(said, service).toContain('Read-only file system');
    }
    for (const service of ['engine', 'worker', 'service', 'redis', 'postgres']) {
      const [{ HostConfig }] = JSON.parse(await on.docker('inspect', on.container(service)));
      expect(HostConfig, service).toMatchObject({
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges:true'],
      });
      expect(HostConfig.Memory, service).toBeGreaterThan(0);
      expect(HostConfig.PidsLimit, service).toBeGreaterThan(0);
    }
    expect(await on.patchbay('status')).toMatchObject({
      engine: 'running',
      workers: 3,
      surroundings: { troubles: [] },
    });
  });

  it(
    'brings 5,000 rows in, each once and at the allowed rate, while containers die, freeze and are cut off',
    async () => {
      const troubles = troublesOf(on, randomOf(seed));
      say(`seed ${seed}: ${troubles.map(({ name }) => name).join(', ')}`);
      const importedAt = performance.now();
      await on.drop('people.csv', peopleCsv(rowCount, { more: ['p-dead,Nobody,x,letters'] }));
      const end = ended('people.csv');
      let made = 0;
      for (const trouble of troubles) {
        const run = await on.lastRun();
        if (run !== null && run.file === 'people.csv' && run.pending === 0 && run.rows > 0) break;
        await trouble.make();
        made += 1;
        // Work begins again before the next one.
        await sleep(1_000);
      }
      const run = await end;
      say(
        `${made} troubles, ${run.rows} rows in ${seconds(importedAt)} s, ${run.requests.post} creates sent, ${run.requests.rateLimited} answers 429`,
      );
      expect(run).toMatchObject({ state: 'doneWithDead', rows: rowCount + 1, created: rowCount, dead: 1, pending: 0 });
      expect(made, 'troubles before the run ended').toBe(troubles.length);
      expect(await on.keys()).toEqual([...peopleKeys(rowCount)].sort());
      expect(run.requests.rateLimited, 'answers 429').toBe(0);
      expect(await on.patchbay('ledger', 'check')).toMatchObject({ state: 'sound', findings: [] });
    },
    runTimeoutMs,
  );

  it(
    'loses nothing when each service is restarted in turn',
    async () => {
      // A feed of its own: in that of the first file the guards would stop so many new people.
      await on.docker('exec', on.container('engine'), 'mkdir', '-p', '/data/import/second');
      await on.drop('second/more.csv', peopleCsv(1_500, { prefix: 'm' }));
      const end = ended('more.csv');
      for (const service of ['worker', 'engine', 'service', 'redis', 'postgres']) {
        const scale = service === 'worker' ? ['--scale', 'worker=3'] : [];
        await on.compose('up', '--detach', '--no-deps', '--force-recreate', '--wait', ...scale, service);
      }
      expect(await end).toMatchObject({ state: 'done', rows: 1_500, created: 1_500, dead: 0 });
      expect((await on.keys()).filter((key) => key.startsWith('m-'))).toEqual([...peopleKeys(1_500, 'm')].sort());
    },
    runTimeoutMs,
  );

  it(
    'is backed up and restored by the commands of docs/operations.md',
    async () => {
      await on.shell(commandsOf('backup'));
      await on.shell(commandsOf('loss'));
      await on.shell(commandsOf('restore'));
      await on.compose('up', '--detach', '--wait', '--scale', 'worker=3');
      await on.drop('again.csv', peopleCsv(rowCount));
      const run = await ended('again.csv');
      expect(run).toMatchObject({ state: 'done', rows: rowCount, unchanged: rowCount });
      expect(run.requests.post).toBe(0);
      const archived = await on.docker('exec', on.container('engine'), 'ls', '/data/import/_done');
      expect(archived).toMatch(/__people\.csv\n/);
    },
    runTimeoutMs,
  );
});

/** The commands of the document behind a comment that names them. */
function commandsOf(part: 'backup' | 'loss' | 'restore'): string {
  const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const [, commands] = new RegExp(`^# ${part}\\b.*\\n((?:(?!#|\`\`\`).*\\n)+)`, 'm').exec(text) ?? [];
  if (commands === undefined) throw new Error(`docs/operations.md has no commands for ${part}`);
  return commands;
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(0);
}
