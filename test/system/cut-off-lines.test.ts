/** However an import ends, each of its files has its line (`docs/contract.md`, "import --json"). */
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

describe('an import that is interrupted', () => {
  test('while a later file is written says of those that had ended what became of them, and of one without a run why', async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=1s']);
    const header = 'externalId,firstName,phone\n';
    const ended = journey.file('ended.csv', `${header}e-1,Ann,\ne-2,Bea,call me\n`);
    const rejected = Array.from({ length: 20 }, (_, at) => `s-${at},Cy,call me\n`).join('');
    const stopped = journey.file('stopped.csv', header + rejected);
    const file = journey.file('people.csv', peopleCsv(60));
    const missing = journey.file('gone/missing.csv', '').replace('gone', 'elsewhere');
    const first = journey.start(['import', '--json', ended, stopped, file, missing]);
    await service.creates(5);
    await until('the lines of those that rest', () => first.stdout.split('\n').length === 3);
    first.signal('SIGINT');
    const { code, documents, stderr } = await first.ended();
    expect(code, stderr).toBe(130);
    expect(documents, stderr).toMatchObject([
      { file: 'ended.csv', state: 'doneWithDead', created: 1, dead: 1, exitCode: 3, problems: [{ line: 3 }] },
      { file: 'stopped.csv', state: 'stopped', exitCode: 5, error: { code: 'guardDead' } },
      { file: 'people.csv', state: 'stopped', exitCode: 130, error: { code: 'interrupted' } },
      { error: { code: expect.any(String) }, exitCode: 3 },
    ]);
  });

  test('by a second Ctrl-C leaves at once, and prints what it knows', async ({ journey }) => {
    const service = await journey.service(['create:latency=10s']);
    const file = journey.file('people.csv', peopleCsv(3));
    const first = journey.start(['import', '--json', file]);
    await service.creates(1);
    first.signal('SIGINT');
    await until('that it finishes the requests', () => first.stderr.includes('finishing the requests under way'));
    first.signal('SIGINT');
    const { code, documents, stderr } = await first.ended();
    expect(code, stderr).toBe(130);
    expect(documents, stderr).toMatchObject([
      { file: 'people.csv', state: 'stopped', exitCode: 130, pending: 3, error: { code: 'interrupted' } },
    ]);
    await service.setFaults([]);
  });

  test('after its own file has ended, while it works on what another command left, says what became of it', async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=300ms']);
    const left = journey.start(['import', '--json', '--feed', 'crm', journey.file('left.csv', peopleCsv(60))]);
    await service.creates(5);
    left.signal('SIGINT');
    expect((await left.ended()).code).toBe(130);

    await service.setFaults(['create:latency=3s']);
    const file = journey.file('own.csv', 'externalId,firstName,phone\no-1,Ann,call me\n');
    const own = journey.start(['import', '--json', file]);
    await own.firstLine();
    own.signal('SIGINT');
    const { code, documents, stderr } = await own.ended();
    expect(code, stderr).toBe(130);
    expect(documents[0]?.problems).toHaveLength(1);
    expect(documents, stderr).toMatchObject([{ file: 'own.csv', state: 'doneWithDead', dead: 1, exitCode: 3 }]);
    expect(stderr).toContain('interrupted after all of its own had ended; the next engine does what else is left');
  });
});
