/** What a fix-file advises stands in it as it is meant: the guard against formulas changes no word of Patchbay's. */
import { describe, expect, it } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import { csv, expectCounts, openRunsBench } from '#test/runs/support/runs-bench.ts';

const header = 'externalId,firstName,email,phone';
/** No cell of these tests is a formula. */
const guarded = /'[=+\-@]/;

describe('the hints of a fix-file', () => {
  it('hold no apostrophe of a guard where they tell of e-mail addresses, phone numbers and keys', async () => {
    const bench = await openRunsBench();
    const rows = ['c-1,Ann,bad,', 'c-2,Bea,bea@,', 'c-3,Cy,a@b@c,', 'c-4,Di,,call me', ',Fay,,', 'c-6,Gil'];
    const run = await bench.import('a.csv', csv(rows, header));
    expectCounts(run, { rows: 6, dead: 6 });
    const { text } = await bench.fixFile(run);
    expect(text).toContain('email: the e-mail address has no at sign (@). Write one address');
    expect(text).not.toMatch(guarded);
  });

  it.each([[['+49301234567']], [['+49301234567', '+436641234567']]])(
    'hold none where they tell how to name a country: %j',
    async (numbers) => {
      const bench = await openRunsBench();
      const listPhoneNumberPages = async function* () {
        yield numbers.map((number, index) => ({ id: `PN${index}`, number }));
      };
      const parts = { ...bench.parts, workspace: { ...bench.parts.workspace, listPhoneNumberPages } };
      const run = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,,030 1234567'], header)), { parts });
      const { text } = await bench.fixFile(await bench.finish(run));
      expect(text).toContain('(--default-country ');
      expect(text).not.toMatch(guarded);
    },
  );

  it('name no command with options: those that a person may need are named by their words', async () => {
    const bench = await openRunsBench();
    const first = await bench.fixFile(await bench.import('a.csv', csv(['c-1,Ann,,call me'], header)));
    const other = await bench.import('b.csv', first.text.replace('c-1', 'c 1').replace('call me', '+14155550101'));
    const changed = (await bench.fixFile(other)).text;
    expect(changed).toContain('drop that in as it is. To give it the key ""c 1"", use dead edit.');
    expect(changed).not.toMatch(guarded);
    const twice = csv(['d-1,Ann,,+14155550101', 'd-1,Bea,,call me', 'd-1,Cy,,+14155550102'], header);
    const { id: runId } = await bench.import('c.csv', twice);
    const [again] = await redrive(bench.parts, { remap: false, runId });
    if (again === undefined) throw new Error('nothing was tried again');
    const { text } = await bench.fixFile(await bench.carryOut(again));
    expect(text).toContain('or, to correct the letter, use dead edit.');
    expect(text).not.toMatch(guarded);
  });
});
