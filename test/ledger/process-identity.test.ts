import { expect, test } from 'vitest';
import { type SystemFacts, thisSystem } from '#src/clock.ts';
import { identifyProcess } from '#src/ledger/process-identity.ts';
import { type Child, startChild } from './support/child-process.ts';

const module = new URL('./support/name-process.ts', import.meta.url);
const bootId = '0f0f0f0f-1111-2222-3333-444444444444';
const me = identifyProcess(bootId);

async function startNamed(): Promise<{ readonly child: Child; readonly name: string }> {
  const child = startChild(module, bootId);
  return { child, name: (await child.nextLine()) ?? '' };
}

/** The name with one of its four parts replaced. */
function bent(name: string, part: 'host' | 'boot' | 'pid' | 'start', value: string): string {
  const place = ['host', 'boot', 'pid', 'start'].indexOf(part);
  return name.split('/').with(place, value).join('/');
}

test('a name tells host, boot, pid and start', () => {
  const parts = me.name.split('/');
  expect(parts).toHaveLength(4);
  expect(parts[1]).toBe(bootId);
  expect(parts[2]).toBe(`${process.pid}`);
  expect(parts[3]).not.toBe('');
});

test('a process has one name for as long as it lives', () => {
  expect(identifyProcess(bootId).name).toBe(me.name);
});

test('this process is not dead, whatever piece of its work is named', () => {
  expect(me.isDead(me.name)).toBe(false);
  expect(me.isDead(`${me.name}#7f3a`)).toBe(false);
});

test('a living process is not dead; killed, it is', async () => {
  const { child, name } = await startNamed();
  expect(name.split('/')[2]).toBe(`${child.pid}`);
  expect(me.isDead(`${name}#1`)).toBe(false);
  await child.kill();
  expect(me.isDead(name)).toBe(true);
  expect(me.isDead(`${name}#1`)).toBe(true);
});

test('a process that got the pid of a dead one does not keep that one alive', async () => {
  const { name } = await startNamed();
  expect(me.isDead(bent(name, 'start', '1'))).toBe(true);
  expect(me.isDead(bent(me.name, 'start', '1'))).toBe(true);
});

test('whoever ran before this boot is dead', () => {
  expect(me.isDead(bent(me.name, 'boot', 'abcdef01'))).toBe(true);
});

test('a process of another host is never called dead', () => {
  expect(me.isDead(bent(bent(me.name, 'host', 'elsewhere'), 'boot', 'abcdef01'))).toBe(false);
  expect(me.isDead('elsewhere')).toBe(false);
  expect(me.isDead('')).toBe(false);
});

/** What the system of another kind tells of two living processes; `ps` fails for any other. */
function toldBy(platform: NodeJS.Platform, starts: ReadonlyMap<number, string>): SystemFacts {
  const run = (_program: string, args: readonly string[]): string => {
    const line = starts.get(Number(args.at(-1)));
    if (line === undefined) throw new Error('status 1');
    return line;
  };
  return { ...thisSystem, platform, run };
}

test('macOS tells when a process started: a pid that was given out again keeps no dead one alive', async () => {
  const { child } = await startNamed();
  const mine = 'S+   Sun Nov 22 10:00:00 2026    \n';
  const before = new Map([
    [process.pid, mine],
    [child.pid, 'Ss   Sun Nov 22 10:00:01 2026    \n'],
  ]);
  const earlier = identifyProcess(bootId, 'machine', toldBy('darwin', before));
  expect(earlier.name.split('/')[3]).toBe('Sun-Nov-22-10:00:00-2026');
  const theirs = bent(bent(earlier.name, 'pid', `${child.pid}`), 'start', 'Sun-Nov-22-10:00:01-2026');
  expect(earlier.isDead(theirs)).toBe(false);
  const after = before.set(child.pid, 'Ss   Sun Nov 22 11:30:00 2026    \n');
  expect(identifyProcess(bootId, 'machine', toldBy('darwin', after)).isDead(theirs)).toBe(true);
  const zombie = before.set(child.pid, 'Z    Sun Nov 22 10:00:01 2026    \n');
  expect(identifyProcess(bootId, 'machine', toldBy('darwin', zombie)).isDead(theirs)).toBe(true);
});

test('Windows tells by the pid alone whether a process lives', async () => {
  const { child } = await startNamed();
  const here = identifyProcess(bootId, 'machine', toldBy('win32', new Map()));
  const theirs = bent(bent(here.name, 'pid', `${child.pid}`), 'start', 'abcdef01');
  expect(here.isDead(theirs)).toBe(false);
  await child.kill();
  expect(here.isDead(theirs)).toBe(true);
});

test('a process that could not find out its own start is known by its pid', async () => {
  const { child } = await startNamed();
  const here = identifyProcess(
    bootId,
    'machine',
    toldBy('darwin', new Map([[child.pid, 'Ss   Sun Nov 22 10:00:01 2026']])),
  );
  expect(here.isDead(bent(bent(here.name, 'pid', `${child.pid}`), 'start', '?abcdef01'))).toBe(false);
});

test('where other machines may be on the ledger, a name of another boot is never judged: it may be one of theirs', () => {
  const [host, , pid, start] = me.name.split('/');
  const elsewhere = [host, 'another-boot', pid, start].join('/');
  expect(identifyProcess(bootId).isDead(elsewhere)).toBe(true);
  const here = identifyProcess(bootId, 'machines');
  expect(here.isDead(elsewhere)).toBe(false);
  expect(here.isDead([host, bootId, '999999999', '1'].join('/'))).toBe(true);
});
