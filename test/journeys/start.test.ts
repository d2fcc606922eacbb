import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

interface Page {
  readonly runs: readonly { readonly run: string; readonly file: string; readonly state: string }[];
  readonly deadLetters: number;
}

async function pageOf(address: string): Promise<Page> {
  const reply = await fetch(address, { headers: { accept: 'application/json' } });
  expect(reply.status).toBe(200);
  return (await reply.json()) as Page;
}

describe('patchbay start', () => {
  test('without an account takes what is dropped, archives it, reports it and shows it', async ({ journey }) => {
    const worker = journey.start(['start', '--json']);
    const banner = JSON.parse(await worker.firstLine());
    expect(banner).toMatchObject({
      service: { name: 'sandbox' },
      queue: 'embedded Valkey',
      importFolder: join(journey.data, 'import'),
      data: join(journey.data, 'sandbox'),
    });

    const folder = banner.importFolder;
    copyFileSync('config/samples/contacts-with-mistakes.csv', join(folder, 'mistakes.csv'));
    copyFileSync('config/samples/contacts.json', join(folder, 'people.json'));
    writeFileSync(join(folder, 'packed.csv.gz'), gzipSync(peopleCsv(15)));

    // Meanwhile nobody else works on the folder.
    const second = await journey.run(['start', '--json']);
    expect(second.code).toBe(2);
    expect(second.documents[0]).toMatchObject({ error: { code: 'engineRunning' }, exitCode: 2 });

    const page = await until('the end of three runs', async () => {
      const shown = await pageOf(banner.page);
      const ended = shown.runs.filter((run) => run.state === 'done' || run.state === 'doneWithDead');
      return ended.length === 3 && shown;
    });
    const states = Object.fromEntries(page.runs.map((run) => [run.file, run.state]));
    expect(states).toEqual({ 'mistakes.csv': 'doneWithDead', 'people.json': 'done', 'packed.csv.gz': 'done' });
    expect(page.deadLetters).toBeGreaterThan(0);

    for (const { run, file, state } of page.runs) {
      const archived = `${run}__${file}`;
      expect(journey.names('import/_done')).toEqual(expect.arrayContaining([archived, `${archived}.txt`]));
      const report = JSON.parse(readFileSync(join(journey.data, 'sandbox/reports', `${run}.json`), 'utf8'));
      expect(report).toMatchObject({ run, file, state, pending: 0 });
      const detail = await pageOf(new URL(`/runs/${run}`, banner.page).href);
      expect(detail).toMatchObject({ run, state, rows: report.rows });
    }
    expect(journey.names('import/_done')).toHaveLength(6);
    expect(journey.names('import/_fix')).toEqual([expect.stringMatching(/__mistakes\.csv$/)]);
    expect(journey.names('import').filter((name) => !name.startsWith('_'))).toEqual([]);
    expect(journey.names('sandbox/claimed')).toEqual([]);

    worker.signal('SIGINT');
    const { code, stderr } = await worker.ended();
    expect(code).toBe(130);
    expect(stderr).not.toContain('"level":"error"');
  });

  test('says in its banner what is embedded and where to drop a file, and ends with 143 on SIGTERM', async ({
    journey,
  }) => {
    mkdirSync(join(journey.data, 'import'), { recursive: true });
    const worker = journey.start(['start']);
    await until('the banner', () => worker.stdout.includes('contacts.csv'));
    for (const word of [
      'sandbox',
      'PATCHBAY_BASE_URL',
      'embedded Valkey',
      'REDIS_URL',
      'SQLite',
      'http://127.0.0.1:',
    ]) {
      expect(worker.stdout).toContain(word);
    }
    expect(worker.stdout).toContain(join(journey.data, 'import'));
    worker.signal('SIGTERM');
    expect((await worker.ended()).code).toBe(143);
  });

  test('names the invented people of the sample file for the sandbox alone', async ({ journey }) => {
    await journey.service();
    const worker = journey.start(['start']);
    await until('the banner', () => worker.stdout.includes('try '));
    expect(worker.stdout).toContain(`cp YOUR-EXPORT.csv `);
    expect(worker.stdout).not.toContain('config/samples');
    worker.signal('SIGTERM');
    await worker.ended();
  });
});
