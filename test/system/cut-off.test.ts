import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

describe.concurrent('an import that is cut off', () => {
  test('after SIGKILL at random moments goes on with the same run, and makes one contact a key', async ({
    journey,
  }) => {
    const rows = 120;
    const service = await journey.service(['create:latency=80ms', 'create:dropAfter:5%']);
    const file = journey.file('people.csv', peopleCsv(rows));
    const moments = [randomInt(1, 30), randomInt(31, 75), randomInt(76, 115)];

    let run: string | null = null;
    for (const moment of moments) {
      const killed = journey.start(['import', '--json', file]);
      await service.creates(moment);
      if (run !== null) await until('the run that is gone on with', () => killed.stderr.includes(`run ${run}`));
      await killed.kill();
      const runs = await journey.runs();
      expect(runs, 'one run, however often it is killed').toHaveLength(1);
      run = runs[0]?.id ?? '';
    }
    const { code, documents, stderr } = await journey.run(['import', '--json', file]);

    const told = `killed at ${moments.join(', ')} creates\n${stderr}`;
    expect(code, told).toBe(0);
    expect(stderr).toContain(`continuing run ${run}`);
    expect(documents, told).toMatchObject([
      { run, state: 'done', rows, created: rows, updated: 0, adopted: 0, dead: 0, pending: 0 },
    ]);
    expect(await service.keys(), told).toEqual(peopleKeys(rows));
    expect(service.createCount(), `no POST is repeated; ${told}`).toBe(rows);
  });

  test('by a terminal that closes ends with 129 and its document, however often it is hung up, and the same command goes on', async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=300ms']);
    const file = journey.file('people.csv', peopleCsv(60));
    const first = journey.start(['import', '--json', file]);
    await service.creates(5);
    first.signal('SIGHUP');
    first.signal('SIGHUP');
    const { code, documents, stderr } = await first.ended();
    expect(code, stderr).toBe(129);
    expect(documents).toMatchObject([
      { state: 'stopped', exitCode: 129, problems: [{ line: 0, code: 'interrupted' }] },
    ]);
    expect(await service.keys(), 'what was sent was waited for').toHaveLength(service.createCount());

    await service.setFaults([]);
    const again = await journey.call(['import', '--json', file]);
    expect(again.documents, again.stderr).toMatchObject([{ state: 'done', rows: 60, created: 60 }]);
  });

  test('does not end where a terminal closes under nohup', async ({ journey }) => {
    const service = await journey.service(['create:latency=300ms']);
    const file = journey.file('people.csv', peopleCsv(60));
    // As a shell starts it.
    const first = journey.start(['import', '--json', file], { _: '/usr/bin/nohup' });
    await service.creates(5);
    first.signal('SIGHUP');
    await service.setFaults([]);
    const { code, documents, stderr } = await first.ended();
    expect(code, stderr).toBe(0);
    expect(documents).toMatchObject([{ state: 'done', rows: 60, created: 60 }]);
  });

  test.runIf(process.platform === 'linux')(
    'does not end where a terminal closes under nohup and npx, which the hang-up ends',
    async ({ journey }) => {
      const out = journey.file('out.json', '');
      const file = journey.file('people.csv', peopleCsv(500));
      const words = `nohup npx --no-install patchbay import --sandbox --json --data ${journey.data} ${file} > ${out}`;
      const shell = spawn('bash', ['-c', words], { cwd: process.cwd(), detached: true, stdio: 'ignore' });
      await until('a ledger', () => existsSync(join(journey.data, 'sandbox', 'ledger.sqlite')));
      // As the system does it: to all that the terminal runs.
      process.kill(-(shell.pid ?? 0), 'SIGHUP');
      await until('its document', () => readFileSync(out, 'utf8').endsWith('}\n'));
      expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({ state: 'done', rows: 500, created: 500 });
    },
  );

  test('by Ctrl-C ends with 130, says how to go on, and the second call goes on', async ({ journey }) => {
    // More than a process has on their way at once, and as many again.
    const rows = 100;
    // Longer than another command takes to start on a busy machine, for three rounds of writes.
    const service = await journey.service(['create:latency=2500ms']);
    const file = journey.file('people.csv', peopleCsv(rows));
    const first = journey.start(['import', file]);
    await service.creates(5);
    expect((await journey.call(['status'])).stdout).toMatch(/^running +\S+ {2}people\.csv {2}applying, 100 rows/m);
    first.signal('SIGINT');
    const interrupted = await first.ended();
    expect(interrupted.code, interrupted.stderr).toBe(130);
    expect(interrupted.stderr).toMatch(/people\.csv: interrupted with \d+ rows? to go; run the same command again/);
    const sentBefore = service.createCount();
    expect(sentBefore).toBeLessThan(rows);
    expect(await service.keys(), 'what was sent was waited for').toHaveLength(sentBefore);

    const { stdout } = await journey.call(['status']);
    expect(stdout).toMatch(/^waiting +\S+ {2}people\.csv {2}\d+ rows to go; continue with: patchbay start$/m);
    expect(stdout, 'nothing is at work while no engine works').not.toMatch(/^running/m);

    await service.setFaults([]);
    const { code, documents, stderr } = await journey.call(['import', '--json', file]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('which was interrupted');
    expect(documents).toMatchObject([{ state: 'done', rows, created: rows }]);
    expect(await service.keys()).toEqual(peopleKeys(rows));
    expect(service.createCount()).toBe(rows);
  });
});
