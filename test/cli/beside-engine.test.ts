/** Beside an engine that was started with other settings: what it follows is said, setting by setting. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { configSchema } from '#src/config/schema.ts';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { followedSettings } from '#src/operations/followed-settings.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { type Called, callPatchbay } from '#test/support/call-patchbay.ts';

const sentence = 'the running engine follows guards.updatesMax 30%, here it is 5%: restart it to follow the new one';

interface Beside {
  readonly data: string;
  readonly ledger: Ledger;
  call(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Called>;
}

/** A sandbox's data folder with an engine, started with `written`; of an older version where that is null. */
async function besideEngine(written: Parameters<typeof configSchema.parse>[0] | null = {}): Promise<Beside> {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  const lock = takeEngineLock(join(data, 'sandbox', 'engine.lock'));
  onTestFinished(async () => {
    lock?.release();
    await ledger.close();
  });
  await ledger.register('engine', {
    ...{ identity: 'another#1', serviceOrigin: 'http://127.0.0.1:1', startedAtMs: 1 },
    queue: { kind: 'socket', path: 'queue/none' },
    ...(written === null ? {} : { followed: followedSettings(configSchema.parse(written)) }),
  });
  return {
    data,
    ledger,
    call: (args, env = { PATCHBAY_GUARDS_UPDATES_MAX: '5%' }) =>
      callPatchbay([...args, '--data', data, '--sandbox'], env, data),
  };
}

it('status and doctor say so in one line', async () => {
  const { call } = await besideEngine();
  expect((await call(['status'])).stdout).toContain(`settings      ${sentence}\n`);
  expect((await call(['status', '--json'])).documents).toMatchObject([
    { notFollowed: [{ setting: 'guards.updatesMax', engine: '30%', here: '5%' }] },
  ]);
  const doctor = await call(['doctor', '--json']);
  const engine = doctor.documents[0].checks.find(({ check }: { check: string }) => check === 'engine');
  expect(engine).toEqual({ check: 'engine', ok: true, detail: `running; ${sentence}` });
});

it('nothing is said where both are the same, nor of an engine of an older version, which does not tell', async () => {
  const same = await besideEngine({ guards: { updatesMax: '5%' } });
  expect((await same.call(['status', '--json'])).documents).toMatchObject([{ engine: 'running', notFollowed: [] }]);
  expect((await same.call(['status'])).stdout).not.toContain('settings');
  const older = await besideEngine(null);
  expect((await older.call(['status', '--json'])).documents).toMatchObject([{ engine: 'running', notFollowed: [] }]);
  expect((await older.call(['doctor'])).stdout).toMatch(/engine +running\n/);
});

it('a command that hands work over says so once, of its own feed, and has it in its documents', async () => {
  const { data, call } = await besideEngine();
  const files = ['a', 'b'].map((name) => {
    writeFileSync(join(data, `${name}.csv`), `externalId,firstName\n${name}-1,Ann\n`);
    return join(data, `${name}.csv`);
  });
  const detached = ['import', '--detach', ...files];
  const said = await call(detached);
  expect(said.stderr.split(sentence)).toHaveLength(2);
  expect(said.stdout).not.toContain('follows');
  const { documents } = await call([...detached, '--json']);
  expect(documents.map(({ notes }) => notes)).toEqual([[sentence], [sentence]]);
  const accepted = join(data, 'c.csv');
  writeFileSync(accepted, 'externalId,firstName\nc-1,Ann\n');
  const passing = await call(['import', '--detach', '--accept', '--json', accepted]);
  expect(passing.documents[0]).not.toHaveProperty('notes');
  const ofFeed = { PATCHBAY_CONFIG: join(data, 'c.yaml') };
  writeFileSync(ofFeed.PATCHBAY_CONFIG, 'feeds: { crm: { onMissing: clear role } }\n');
  expect((await call([...detached, '--json'], ofFeed)).documents[0]).not.toHaveProperty('notes');
  const [crm] = (await call(['import', '--detach', '--feed', 'crm', '--json', ...files], ofFeed)).documents;
  expect(crm.notes).toEqual([
    'the running engine follows feeds.crm.onMissing report, here it is clear role: restart it to follow the new one',
  ]);
});

it('a command that waits says so before it waits; quiet, it is in the summary of the run', async () => {
  const { data, call } = await besideEngine();
  const file = join(data, 'a.csv');
  writeFileSync(file, 'externalId,firstName\na-1,Ann\n');
  const waited = ['import', '--wait', '1s', file];
  const { documents, output } = await call([...waited, '--json']);
  expect(documents).toMatchObject([{ state: 'stopped', exitCode: 6, notes: [sentence] }]);
  expect(output.indexOf(sentence)).toBeLessThan(output.indexOf('{"run":'));
  expect((await call([...waited, '--quiet'])).stdout).toContain(`  note: ${sentence}\n`);
});

it('schedule run says what the engine takes otherwise', async () => {
  const { data, call } = await besideEngine({ feeds: { crm: { take: '/old/*.csv' } } });
  const config = join(data, 'c.yaml');
  writeFileSync(config, 'feeds: { crm: { take: /new/*.csv } }\n');
  const { documents } = await call(['schedule', 'run', 'crm', '--detach', '--json'], { PATCHBAY_CONFIG: config });
  expect(documents).toMatchObject([
    {
      schedule: 'crm',
      notes: [
        'the running engine follows feeds.crm.take /old/*.csv, here it is /new/*.csv: restart it to follow the new one',
      ],
    },
  ]);
});

it('schedule ls names the place and the kind of files that the engine takes after a restart', async () => {
  const { data, ledger, call } = await besideEngine({ feeds: { crm: { take: '/old/*.csv', every: '1h' } } });
  const rule = { kind: 'every', everyMs: 3_600_000 } as const;
  await ledger.schedules.put({ name: 'crm', work: 'take', rule, dueAtMs: Date.now() + 60_000, createdAtMs: 1 });
  const config = { PATCHBAY_CONFIG: join(data, 'c.yaml') };
  writeFileSync(config.PATCHBAY_CONFIG, 'feeds: { crm: { take: /new/*.csv, every: 1h, kind: delta } }\n');
  expect((await call(['schedule', 'ls'], config)).stdout).toContain(
    '\n  the configuration says take /new/*.csv, kind delta; the running engine follows it after a restart\n',
  );
  expect((await call(['schedule', 'ls', '--json'], config)).documents).toMatchObject([
    {
      name: 'crm',
      notFollowed: [
        { setting: 'feeds.crm.take', engine: '/old/*.csv', here: '/new/*.csv' },
        { setting: 'feeds.crm.kind', engine: 'full', here: 'delta' },
      ],
    },
  ]);
  writeFileSync(config.PATCHBAY_CONFIG, 'feeds: { crm: { take: /old/*.csv, every: 1h } }\n');
  expect((await call(['schedule', 'ls'], config)).stdout).not.toContain('the configuration says');
});
