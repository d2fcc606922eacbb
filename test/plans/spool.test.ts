/** A list that is too long for memory lies in a file that has no name, and is read as often as it is asked for. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSpool } from '#src/plans/spool.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const never = new AbortController().signal;
/** Characters that end lines elsewhere, and such as a piece of the file ends in the middle of. */
const odd = 'a\nb\r\u2028\u2029"\\ é 漢 😀';

it('gives back what was added, in order, while more is added, and to several readers at once', async () => {
  await using spool = await openSpool<{ readonly number: number; readonly text: string }>(folder, never);
  const item = (number: number) => ({ number, text: odd.repeat(1 + (number % 37)) });
  const items = Array.from({ length: 3_000 }, (_, number) => item(number));
  await spool.add(items.slice(0, 1));
  expect(await Array.fromAsync(spool)).toEqual(items.slice(0, 1));
  await spool.add(items.slice(1, 1));
  await spool.add(items.slice(1));
  expect(spool.count).toBe(3_000);
  for await (const first of spool) {
    expect(first).toEqual(items[0]);
    break;
  }
  expect(await Promise.all([Array.fromAsync(spool), Array.fromAsync(spool)])).toEqual([items, items]);
});

it('has no name in its folder, so that nothing stays of it whatever ends the process', async () => {
  const below = join(folder, 'drafts');
  await using spool = await openSpool<string>(below, never);
  await spool.add(['some value']);
  expect(await readdir(below)).toEqual([]);
  expect(await Array.fromAsync(spool)).toEqual(['some value']);
});

it('is read no further after an interruption', async () => {
  const interrupt = new AbortController();
  await using spool = await openSpool<string>(folder, interrupt.signal);
  await spool.add(Array.from({ length: 100 }, () => 'x'.repeat(10_000)));
  let read = 0;
  const reading = async () => {
    for await (const _ of spool) {
      read += 1;
      if (read === 10) interrupt.abort(new Error('interrupted'));
    }
  };
  await expect(reading()).rejects.toThrow('interrupted');
  expect(read).toBeLessThan(20);
});

it('that cannot be written is told in words', async () => {
  await writeFile(join(folder, 'file'), 'x');
  await expect(openSpool(join(folder, 'file/drafts'), never)).rejects.toMatchObject({
    code: 'outputNotWritten',
    hint: expect.stringContaining('Make room in the data folder'),
  });
});
