/** Questions on a terminal: what is shown, and what counts as yes. */
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { askForgetting } from '#src/cli/commands/forget.ts';
import { askDecision, askWhy, terminalOf } from '#src/cli/questions.ts';

async function answered(typed: string): Promise<{ readonly yes: boolean; readonly shown: string }> {
  const output = new PassThrough({ encoding: 'utf8' });
  const asked = { shown: 'this will happen', question: 'Go on?', whyQuestion: 'Why?', given: 'known' };
  const { isYes } = await askDecision({ input: Readable.from([typed]), output }, asked);
  return { yes: isYes, shown: String(output.read()) };
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

  it('about forgetting a person asks for the reason behind the yes, where none was given', async () => {
    const forgetting = async (typed: string, given: string | null) => {
      const output = new PassThrough({ encoding: 'utf8' });
      return {
        ...(await askForgetting({ input: Readable.from([typed]), output }, 'p', given)),
        shown: `${output.read()}`,
      };
    };
    expect(await forgetting('y\nthey asked\n', null)).toMatchObject({ isYes: true, why: 'they asked' });
    expect(await forgetting('y\n\n', null), 'none: the command refuses').toMatchObject({ isYes: true, why: null });
    const given = await forgetting('y\n', 'request');
    expect(given).toMatchObject({ isYes: true, why: 'request' });
    expect(given.shown).not.toContain('Why?');
    expect(await forgetting('n\n', null)).toMatchObject({ isYes: false });
  });

  it('is not asked where there is none: here stdin is no terminal', () => {
    expect(terminalOf({})).toBeNull();
    expect(terminalOf({ yes: true })).toBeNull();
  });

  it.each([
    ['the books are closed\n', undefined, 'the books are closed', 'Why? '],
    ['\n', undefined, null, 'Why? '],
    ['', undefined, null, 'Why? '],
    ['not read\n', 'given', 'given', null],
  ])('asks why alone: %j typed, %s given', async (typed, given, why, shown) => {
    const output = new PassThrough({ encoding: 'utf8' });
    expect(await askWhy({ input: Readable.from([typed]), output }, 'Why?', given)).toBe(why);
    expect(output.read()).toBe(shown);
    expect(await askWhy(null, 'Why?', given), 'without a terminal').toBe(given ?? null);
  });
});
