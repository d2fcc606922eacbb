import { expect, test } from 'vitest';
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
  expect(parts[1]).toBe('0f0f0f0f');
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
