/** The name of the boot: the same in all processes of a machine, another one after the next boot. */
import { expect, it } from 'vitest';
import { isSameBoot, readBootId, type SystemFacts, systemClock } from '#src/clock.ts';
import { identifyProcess } from '#src/ledger/process-identity.ts';
import { startChild } from './ledger/support/child-process.ts';

const bootSecond = 1_766_000_000;

/** A system that tells nothing but its uptime. */
function system(facts: Partial<SystemFacts> & { readonly upSeconds?: number } = {}): SystemFacts {
  const { upSeconds = 3_600.25, ...rest } = facts;
  const silent = (): never => {
    throw new Error('ENOENT');
  };
  return {
    platform: 'freebsd',
    readFile: silent,
    run: silent,
    nowMs: () => (bootSecond + upSeconds) * 1_000,
    uptimeSeconds: () => upSeconds,
    ...rest,
  };
}

it('is the UUID of the kernel on Linux', () => {
  const readFile = (path: string) => (path === '/proc/sys/kernel/random/boot_id' ? 'd2b1-c4\n' : '');
  expect(readBootId(system({ platform: 'linux', readFile }))).toBe('d2b1-c4');
});

it('is the UUID of the boot session on macOS', () => {
  const run = (program: string, args: readonly string[]) =>
    [program, ...args].join(' ') === '/usr/sbin/sysctl -n kern.bootsessionuuid' ? '6C3F-AA\n' : '';
  expect(readBootId(system({ platform: 'darwin', run }))).toBe('6C3F-AA');
});

it('is the number of the boot on Windows', () => {
  const asked: string[][] = [];
  const run = (program: string, args: readonly string[]) => {
    asked.push([program, ...args]);
    return '\r\nHKEY_LOCAL_MACHINE\\SYSTEM\\…\\PrefetchParameters\r\n    BootId    REG_DWORD    0x1f4\r\n\r\n';
  };
  expect(readBootId(system({ platform: 'win32', run }))).toBe('boot-500');
  expect(asked.map(([program, command, , ...rest]) => [program?.endsWith('reg.exe'), command, ...rest])).toEqual([
    [true, 'query', '/v', 'BootId'],
  ]);
});

it.each(['linux', 'darwin', 'win32', 'freebsd'] as const)(
  'is reckoned from the uptime where %s does not tell, alike in processes that start at any time',
  (platform) => {
    const first = readBootId(system({ platform, upSeconds: 10.4996 }));
    expect(first).toBe(`booted-at-${bootSecond}`);
    for (const upSeconds of [10.5004, 11, 59.999, 86_400.5, 31_536_000.3]) {
      // Two clocks are read one after the other, and NTP moves one of them a little.
      for (const offMs of [-20_000, -501, -1, 0, 1, 499, 500, 501, 20_000]) {
        const nowMs = () => (bootSecond + upSeconds) * 1_000 + offMs;
        expect(isSameBoot(first, readBootId(system({ platform, upSeconds, nowMs })))).toBe(true);
      }
    }
  },
);

it('is empty nowhere: a program that prints nothing, or something else, does not tell', () => {
  const reckoned = `booted-at-${bootSecond}`;
  expect(readBootId(system({ platform: 'linux', readFile: () => '\n' }))).toBe(reckoned);
  expect(readBootId(system({ platform: 'darwin', run: () => '' }))).toBe(reckoned);
  expect(readBootId(system({ platform: 'win32', run: () => 'ERROR: The system was unable to find…' }))).toBe(reckoned);
});

it('is another one after a boot, and where the clock was set by more than a minute', () => {
  const first = readBootId(system());
  const nowMs = () => (bootSecond + 120 + 30) * 1_000;
  expect(isSameBoot(first, readBootId(system({ upSeconds: 30, nowMs })))).toBe(false);
  const hourBack = () => (bootSecond + 7_200 - 3_600) * 1_000;
  expect(isSameBoot(first, readBootId(system({ upSeconds: 7_200, nowMs: hourBack })))).toBe(false);
});

it('names that a system keeps are compared as they are', () => {
  expect(isSameBoot('boot-500', 'boot-501')).toBe(false);
  expect(isSameBoot('d2b1', 'd2b1')).toBe(true);
  expect(isSameBoot('', 'booted-at-0')).toBe(false);
});

it('two processes of this machine agree on the boot, and on each other being alive', async () => {
  const child = startChild(new URL('./ledger/support/name-process.ts', import.meta.url));
  const name = (await child.nextLine()) ?? '';
  const { bootId } = systemClock();
  const me = identifyProcess(bootId);
  expect(name.split('/')[1]).toBe(bootId);
  expect(me.isDead(name)).toBe(false);
  await child.kill();
  expect(me.isDead(name)).toBe(true);
});
