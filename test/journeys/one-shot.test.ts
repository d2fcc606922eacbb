import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

const documentKeys = [
  ...['run', 'feed', 'file', 'service', 'state', 'rows', 'created', 'updated', 'unchanged', 'skipped'],
  ...['moved', 'dead'],
  ...[
    'pending',
    'adopted',
    'linked',
    'deleted',
    'heldFields',
    'removedValues',
    'deadNew',
    'warnings',
    'missing',
    'drift',
    'requests',
    'seconds',
    'fixFile',
  ],
  ...['report', 'exitCode', 'problems'],
];

describe.concurrent('a one-shot import', () => {
  test('creates the sample in the sandbox, and finds it unchanged the second time', async ({ journey }) => {
    const command = ['import', '--sandbox', '--json', 'config/samples/contacts.csv'];

    const first = await journey.run(command);
    const [document] = first.documents;
    expect(first.code, first.stderr).toBe(0);
    expect(first.documents).toHaveLength(1);
    expect(Object.keys(document)).toEqual(documentKeys);
    expect(Object.keys(document.requests)).toEqual(['get', 'post', 'patch', 'delete', 'retried', 'rateLimited']);
    expect(document).toMatchObject({
      state: 'done',
      service: 'sandbox',
      rows: 12,
      created: 12,
      pending: 0,
      exitCode: 0,
    });
    expect(existsSync(document.report)).toBe(true);

    const second = await journey.call(command);
    expect(second.code, second.stderr).toBe(0);
    expect(second.documents[0]).toMatchObject({ state: 'done', rows: 12, created: 0, unchanged: 12 });
    expect(second.documents[0].requests).toMatchObject({ get: 0, post: 0, patch: 0 });
    expect(second.documents[0].run).not.toBe(document.run);
    expect(journey.names('sandbox/import/_done').filter((name) => name.endsWith('contacts.csv'))).toHaveLength(2);
  });

  test('reads standard input, whose format it sees or is given', async ({ journey }) => {
    const given = journey.start(['import', '--sandbox', '--json', '-'], {}, 'pipe');
    given.stdin?.write('externalId,first');
    given.stdin?.end('Name\nc-1,Ann\n');
    const { code, documents, stderr } = await given.ended();
    expect(code, stderr).toBe(0);
    expect(documents).toMatchObject([{ file: 'stdin.csv', state: 'done', rows: 1, created: 1 }]);

    const lines = journey.start(['import', '--sandbox', '--json', '--format', 'ndjson', '-'], {}, 'pipe');
    lines.stdin?.end('{"externalId":"c-2","firstName":"Bea"}\n');
    expect((await lines.ended()).documents).toMatchObject([{ file: 'stdin.ndjson', state: 'done', created: 1 }]);

    const empty = await journey.run(['import', '--sandbox', '--json', '-']);
    expect([empty.code, empty.documents[0].error.code]).toEqual([3, 'stdinEmpty']);
    expect(journey.names('sandbox/handed-over')).toEqual([]);
  });

  test('that is interrupted while it reads standard input leaves nothing behind', async ({ journey }) => {
    const reading = journey.start(['import', '--sandbox', '--json', '-'], {}, 'pipe');
    reading.stdin?.write('externalId,');
    await until('a part on disk', () => journey.names('sandbox/handed-over').length > 0);
    reading.signal('SIGINT');
    const { code, documents } = await reading.ended();
    expect([code, documents[0].error.code]).toEqual([130, 'interrupted']);
    expect(journey.names('sandbox/handed-over')).toEqual([]);
    expect(journey.names('sandbox/import/_done')).toEqual([]);
  });

  test('ends with 3 where rows are dead, names each, and leaves a file to mend', async ({ journey }) => {
    const { code, documents, stderr } = await journey.run([
      ...['import', '--sandbox', '--json', 'config/samples/contacts-with-mistakes.csv'],
    ]);
    const [document] = documents;
    expect(code, stderr).toBe(3);
    expect(document).toMatchObject({ state: 'doneWithDead', rows: 10, pending: 0, exitCode: 3 });
    expect(document.created + document.dead).toBe(10);
    expect(new Set(document.problems.map((problem: { line: number }) => problem.line)).size).toBe(document.dead);
    expect(Object.keys(document.problems[0])).toEqual(['line', 'code', 'field', 'value', 'hint']);
    expect(existsSync(document.fixFile)).toBe(true);
  });

  test('says why it skipped rows, and which; so does runs show', async ({ journey }) => {
    const file = journey.file('people.csv', 'externalId,firstName\nc-1,Ann\nc-2,Bob\nc-1,Ann\n');
    const { stdout } = await journey.call(['import', '--sandbox', file]);
    const words = '  1 row skipped: the file contains the same row twice (line 4, c-1)\n';
    expect(stdout).toContain(words);
    const [, run = ''] = /reports\/(\S+)\.json/.exec(stdout) ?? [];
    expect((await journey.call(['runs', 'show', run])).stdout).toContain(words);
  });

  test('counts its warnings and says how to see them; runs show lists them, without values on request', async ({
    journey,
  }) => {
    const file = journey.file('people.csv', 'externalId,firstName,phone\nc-1,N/A,+14155550101 x123\n');
    const done = await journey.call(['import', '--sandbox', file]);
    const [, run = ''] = /2 warnings: see patchbay runs show --sandbox (\S+)/.exec(done.stdout) ?? [];
    const shown = await journey.call(['runs', 'show', run]);
    expect(shown.stdout).toMatch(/2 warnings:\n +line +column +value +code +what was done\n/);
    expect(shown.stdout).toMatch(/2 +firstName +N\/A +placeholderText +what the cell holds/);
    expect(shown.stdout).toMatch(/2 +phone +\+14155550101 x123 +phoneExtensionDropped +the extension was dropped/);
    const bare = await journey.call(['runs', 'show', '--no-values', run]);
    expect(bare.stdout).toContain('phoneExtensionDropped');
    expect(bare.stdout).not.toMatch(/N\/A|0101/);
    const [document] = (await journey.call(['--json', 'runs', 'show', run])).documents;
    expect(document.outcomes).toMatchObject([
      { kind: 'warning', line: 2, key: 'c-1', field: 'firstName', value: 'N/A', code: 'placeholderText' },
      { kind: 'warning', line: 2, key: 'c-1', field: 'phone', value: '+14155550101 x123' },
    ]);
    const masked = await journey.call(['--json', '--no-values', 'runs', 'show', run]);
    expect(masked.documents[0].outcomes).toMatchObject([
      { key: null, value: null },
      { key: null, value: null },
    ]);
    expect(masked.stdout).not.toMatch(/N\/A|0101|c-1/);
  });

  test('names a country that is none where a number has no country code, and hides it with --no-values', async ({
    journey,
  }) => {
    const header = 'Record Id,Contact Owner.id,First Name,Last Name,Phone,Mailing Country\n';
    const file = journey.file('zoho.csv', `${header}zcrm_1,zcrm_9,Ann,Lee,4155550101,Amerikaland\n`);
    const done = await journey.call(['import', '--sandbox', file]);
    expect(done.code).toBe(3);
    expect(done.stdout).toContain('note: 1 number has no country code, and "Mailing Country" holds no country');
    expect(done.stdout).toContain('Correct “Amerikaland” in "Mailing Country"');
    expect(done.stdout).not.toContain('import again');
    const [, run = ''] = /reports\/(\S+)\.json/.exec(done.stdout) ?? [];
    const commands = [
      ['runs', 'show', run],
      ['dead', 'ls', '--sandbox'],
      ['plan', '--sandbox', file],
      ['map', '--explain', '2', file],
    ];
    for (const command of commands) {
      for (const flags of [['--no-values'], ['--no-values', '--json']]) {
        const shown = await journey.call([...command, ...flags]);
        expect(shown.stdout).toContain('Mailing Country');
        expect(shown.stdout).not.toContain('Amerikaland');
      }
    }
    const corrected = journey.file('zoho-2.csv', `${header}zcrm_1,zcrm_9,Ann,Lee,4155550101,United States\n`);
    expect((await journey.call(['import', '--sandbox', corrected])).code).toBe(0);
  });

  test('ends with 2 and touches nothing where no service is named and nobody asked for the sandbox', async ({
    journey,
  }) => {
    const { code, documents } = await journey.call(['import', '--json', 'config/samples/contacts.csv']);
    expect(code).toBe(2);
    expect(documents).toEqual([
      { error: { code: 'serviceMissing', message: expect.any(String), hint: expect.any(String) }, exitCode: 2 },
    ]);
    expect(existsSync(join(journey.data, 'sandbox'))).toBe(false);
  });

  test('ends with 4 where the key is refused, and no row dies of it', async ({ journey }) => {
    const service = await journey.service();
    const file = journey.file('people.csv', peopleCsv(3));
    const refused = await journey.run(['import', '--json', file], { PATCHBAY_API_KEY: 'another-key' });
    expect(refused.code, refused.stderr).toBe(4);
    expect(refused.documents[0]).toMatchObject({ exitCode: 4 });
    expect(service.writeCount()).toBe(0);

    const { code, documents } = await journey.call(['import', '--json', file]);
    expect(code).toBe(0);
    expect(documents[0]).toMatchObject({ rows: 3, created: 3, dead: 0 });
  });

  test('ends with 5 before the first write where a file would change most of the contacts', async ({ journey }) => {
    const service = await journey.service();
    const before = journey.file('before.csv', peopleCsv(20));
    const after = journey.file('after.csv', peopleCsv(20, { company: 'Harbor & Sons' }));
    expect((await journey.call(['import', '--json', before])).code).toBe(0);
    const writeCount = service.writeCount();

    const { code, documents } = await journey.run(['import', '--json', after]);
    expect(code).toBe(5);
    expect(documents[0]).toMatchObject({ state: 'stopped', rows: 20, pending: 20, exitCode: 5 });
    expect(documents[0].error).toMatchObject({ code: 'guardUpdates', hint: expect.stringContaining('--max-change') });
    expect(service.writeCount()).toBe(writeCount);
  });

  test('ends with 6 where the service does not answer, and creates everything once it does', async ({ journey }) => {
    const service = await journey.service();
    const file = journey.file('people.csv', peopleCsv(5));
    const nobody = { PATCHBAY_BASE_URL: 'http://127.0.0.1:9' };
    const waited = await journey.run(['import', '--json', '--wait', '2s', file], nobody);
    expect(waited.code, waited.stderr).toBe(6);
    expect(waited.documents[0]).toMatchObject({ state: 'stopped', dead: 0, exitCode: 6 });

    const { code, documents } = await journey.call(['import', '--json', file]);
    expect(code).toBe(0);
    expect(documents[0]).toMatchObject({ run: waited.documents[0].run, rows: 5, created: 5 });
    expect(await service.keys()).toEqual(peopleKeys(5));
  });
});
