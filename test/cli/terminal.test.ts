/** Questions on a terminal: what is shown, and what counts as yes. */
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { askYes, terminalOf } from '#src/cli/output.ts';

async function answered(typed: string): Promise<{ readonly yes: boolean; readonly shown: string }> {
  const output = new PassThrough({ encoding: 'utf8' });
  const yes = await askYes({ input: Readable.from([typed]), output }, 'this will happen', 'Go on?');
  return { yes, shown: String(output.read()) };
}

describe('a question on a terminal', () => {
  it('comes after what will happen', async () => {
    expect((await answered('y\n')).shown).toBe('this will happen\nGo on? [y/N] ');
  });

  it.each([
    ...[['y\n', true] as const, ['Yes\n', true] as const, [' y \n', true] as const],
    ...[['\n', false] as const, ['no\n', false] as const, ['yesterday\n', false] as const, ['', false] as const],
  ])('takes %j for %s', async (typed, yes) => {
    expect((await answered(typed)).yes).toBe(yes);
  });

  it('is not asked where there is none: here stdin is no terminal', () => {
    expect(terminalOf({})).toBeNull();
    expect(terminalOf({ yes: true })).toBeNull();
  });
});
