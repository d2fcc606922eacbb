/** `patchbay logs`: the lines that come, and who did what, when and why (`docs/rules.md`, "Acts of people"). */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { until } from '#test/support/until.ts';

describe('logs', () => {
  test('follows over rolled files until Ctrl-C', async ({ journey }) => {
    const folder = join(journey.data, 'sandbox', 'logs');
    mkdirSync(folder, { recursive: true });
    const path = (number: number): string => join(folder, `patchbay.${number}.ndjson`);
    const line = (minute: number, feed: string): string =>
      `${JSON.stringify({ level: 'info', time: new Date(Date.UTC(2026, 10, 22, 3, minute)).toISOString(), feed })}\n`;
    writeFileSync(path(1), line(1, 'crm') + line(2, 'main'));
    const started = journey.start(['logs', '-f', '--feed', 'crm', '--sandbox', '--json']);
    await until('the first line', () => started.stdout === line(1, 'crm'));
    appendFileSync(path(1), line(3, 'main') + line(4, 'crm'));
    writeFileSync(path(2), line(5, 'crm'));
    await until('the lines that came', () => started.stdout === line(1, 'crm') + line(4, 'crm') + line(5, 'crm'));
    started.signal('SIGINT');
    expect((await started.ended()).code).toBe(0);
  });
});

describe('pretty log lines', () => {
  test('have colours where they are asked for, and none with --no-color', async ({ journey }) => {
    const file = journey.file('a.csv', 'externalId,firstName\nc-1,Ann\n');
    const control = String.fromCharCode(27);
    const asked = { LOG_FORMAT: 'pretty', LOG_LEVEL: 'error', FORCE_COLOR: '1', NO_COLOR: '' };
    const coloured = await journey.run(['import', '--sandbox', '--verbose', file], asked);
    expect(coloured.stderr).toMatch(/INFO/);
    expect(coloured.stderr).toContain(`${control}[32mINFO`);
    const plain = await journey.run(['import', '--sandbox', '--verbose', '--no-color', file], asked);
    expect(plain.stderr).toMatch(/INFO/);
    expect(plain.stderr).not.toContain(control);
  });
});

describe('the trail of acts', () => {
  test('tells who imported, decided, retried, approved and cancelled, and why; and no value', async ({ journey }) => {
    const service = await journey.service();
    const file = journey.file('a.csv', 'externalId,firstName,role,phone\nc-1,Ann,Lead,\nc-2,Bo,Chef,call me\n');
    expect((await journey.call(['import', file, '--accept', '--reason', 'first load'])).code).toBe(3);
    await service.edit('c-1', { role: 'Boss' });
    journey.file('a.csv', 'externalId,firstName,role,phone\nc-1,Ann,Buyer,\nc-2,Bo,Chef,call me\n');
    await journey.call(['import', file]);
    expect((await journey.call(['held', 'take', 'app', 'c-1', '--reason', 'the app is right'])).code).toBe(0);
    await journey.call(['dead', 'retry', '--all', '--reason', 'once more']);

    const trail = await journey.call(['logs', '--acts']);
    const { username } = userInfo();
    const lines = trail.stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    for (const line of lines)
      expect(line).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\dZ  ${username}  `));
    expect(lines[0]).toMatch(/imported run \S+, feed main, accept: first load$/);
    expect(lines[2]).toMatch(/decided held fields: feed main, the app's values, 1 field, role: the app is right$/);
    expect(lines[3]).toMatch(/retried dead letters: run \S+, feed main, 1 letter: once more$/);
    expect(trail.stdout).not.toMatch(/c-1|Buyer|call me/);

    const { documents } = await journey.call(['--json', 'logs', '--acts', '--lines', '1']);
    expect(documents).toMatchObject([
      {
        kind: 'deadRetry',
        who: username,
        by: 'command',
        reason: 'once more',
        feed: 'main',
        facts: { letters: 1, all: true },
      },
    ]);
    const retried = documents[0].run;
    const shown = await journey.call(['runs', 'show', retried]);
    expect(shown.stdout).toContain('retried dead letters:');
    expect((await journey.call(['--json', 'runs', 'show', retried])).documents[0].acts).toMatchObject(documents);
    expect((await journey.call(['logs', '--acts', '--follow'])).code).toBe(2);
  });

  test('tells each act once: a plan applied, an approval, a cancellation, an undo and a person forgotten', async ({
    journey,
  }) => {
    await journey.service();
    const people = (role: string) => `externalId,firstName,role\n${peopleWith(role)}`;
    await journey.call(['import', journey.file('a.csv', people('Lead'))]);
    const stop = async (role: string) => {
      const { code, documents } = await journey.call(['--json', 'import', journey.file('a.csv', people(role))]);
      expect([code, documents[0].state]).toEqual([5, 'stopped']);
      return documents[0].run;
    };
    const approved = await stop('Chief');
    expect((await journey.call(['runs', 'approve', approved, '--reason', 'new titles'])).code).toBe(0);
    const cancelled = await stop('Boss');
    expect((await journey.call(['runs', 'cancel', cancelled, '--reason', 'old list'])).code).toBe(0);
    // What has ended is not cancelled again.
    await journey.call(['runs', 'cancel', cancelled]);
    const file = journey.file('b.csv', `${people('Chief')}c-21,Cy,New\n`);
    const [{ plan }] = (await journey.call(['--json', 'plan', file])).documents;
    const [applied] = (await journey.call(['--json', 'import', '--plan', plan])).documents;
    expect((await journey.call(['runs', 'undo', applied.run, '--delete-created', '--accept'])).code).toBe(0);
    expect((await journey.call(['forget', 'c-1', '--reason', 'asked by post', '--yes'])).code).toBe(0);

    const { stdout } = await journey.call(['logs', '--acts']);
    expect(
      stdout.split('\n').map((line) =>
        line
          .split('  ')
          .at(-1)
          ?.replaceAll(/20\d{6}T\S+?(?=[,:\s]|$)/g, 'RUN')
          .replace(/\d+ rows/, 'N rows'),
      ),
    ).toEqual([
      'imported run RUN, feed main',
      'imported run RUN, feed main',
      'approved run RUN, feed main, stopped by guardUpdates: new titles',
      'imported run RUN, feed main',
      'cancelled run RUN, feed main: old list',
      'imported run RUN, feed main, plan RUN',
      'entered an undo: run RUN, feed main, of run RUN, accept, deleteCreated',
      'forgot a person: N rows: asked by post',
      '',
    ]);
  });
});

/** Twenty people, all in that role. */
const peopleWith = (role: string): string =>
  Array.from({ length: 20 }, (_, index) => `c-${index + 1},Ann,${role}\n`).join('');
