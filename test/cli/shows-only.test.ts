/** A command that only shows makes nothing: the name of the data folder may have a mistake in it. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

const call = (data: string, ...args: readonly string[]) => callPatchbay([...args, '--data', data], {});

describe('of a data folder that is not there', () => {
  it.each([
    [['status'], 0, 'ledger        none yet: nothing has been imported here'],
    [['runs', 'ls'], 0, 'no runs yet'],
    [['dead', 'ls'], 0, 'no dead letters'],
    [['held', 'ls'], 0, 'no held fields'],
    [['schedule', 'ls'], 0, 'There is no schedule'],
    [['hosts', 'ls'], 0, 'no hosts'],
    [['numbers', 'history'], 2, 'there is no snapshot'],
    [['runs', 'show', 'last'], 2, 'there is no run'],
    [['dead', 'show', 'x'], 2, 'there is no dead letter'],
    [['logs', '--acts'], 0, 'no acts of people'],
    [['contact', 'p-1', '--offline'], 2, 'p-1'],
  ])('%j answers, and makes none', async (command, code, text) => {
    const data = join(tempFolder(), 'mistyped');
    const ended = await call(data, ...command);
    expect(ended.output).toContain(text);
    expect([ended.code, existsSync(data)]).toEqual([code, false]);
  });
});

it('status of a data folder without a ledger makes none, and says so', async () => {
  const data = tempFolder();
  expect((await call(data, 'status', '--json')).documents[0]).toMatchObject({
    ...{ ledger: { file: join(data, 'sandbox', 'ledger.sqlite'), bytes: 0, state: 'noneYet' } },
    engine: 'not running',
  });
  expect(readdirSync(data)).toEqual([]);
});

it.each([
  ['a file', (path: string) => writeFileSync(path, ''), 'is a file, not a folder'],
  ['a link that leads nowhere', (path: string) => symlinkSync('gone', path), 'is a link to gone, which is not there'],
])('status says that the data folder is %s', async (_what, make, text) => {
  const data = join(tempFolder(), 'data');
  make(data);
  expect(await call(data, 'status')).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
});

it('a pause of a schedule is kept before the first start', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'in'));
  const config = join(data, 'patchbay.yaml');
  writeFileSync(config, `feeds: { crm: { take: ${join(data, 'in', '*.csv')}, every: 1h } }\n`);
  const paused = await call(data, 'schedule', 'pause', 'crm', '--config', config);
  expect([paused.code, existsSync(join(data, 'sandbox', 'ledger.sqlite'))]).toEqual([0, true]);
  expect((await call(data, 'schedule', 'ls', '--config', config)).stdout).toContain('paused');
});
