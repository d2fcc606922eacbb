/** `patchbay runs approve` (`docs/rules.md`, "Guards"): what it shows, what it asks, and what it answers. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { approvalQuestion } from '#src/cli/commands/runs.ts';
import { askDecision, type Decision } from '#src/cli/questions.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { approvalOf } from '#src/ledger/rules/approval.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { wasApprovedMeanwhile } from '#src/operations/run-acts.ts';
import { slice, stagingRun } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

/** What a person sees, and what becomes of what they type. */
async function asked(typed: string, why?: string): Promise<Decision & { readonly seen: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end(typed);
  const answer = await askDecision({ input, output }, approvalQuestion('moved.csv → sandbox: stopped', why));
  output.end();
  return { ...answer, seen: await text(output) };
}

describe('on a terminal', () => {
  it('the run is shown, then a yes lets it go on, with a reason where somebody gives one', async () => {
    expect(await asked('y\nnew mail domain\n')).toEqual({
      isYes: true,
      why: 'new mail domain',
      seen: 'moved.csv → sandbox: stopped\nContinue this run as shown? [y/N] Why? Recorded in the report (Enter: no reason) ',
    });
    expect(await asked('YES\n\n')).toMatchObject({ isYes: true, why: null });
  });

  it.each([['n\n'], ['\n'], ['yellow\n'], ['']])('anything else leaves it stopped: %j', async (typed) => {
    expect(await asked(typed)).toMatchObject({ isYes: false, why: null });
  });

  it('a reason that was given is not asked for', async () => {
    const { isYes, why, seen } = await asked('y\n', 'known rows');
    expect({ isYes, why }).toEqual({ isYes: true, why: 'known rows' });
    expect(seen).not.toContain('Why?');
  });
});

/** A sandbox's data folder with a run that a guard has stopped. */
async function stoppedRun(): Promise<{ data: string; ledger: Ledger }> {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  const run = await stagingRun(ledger, 'r-1', { claimedPath: '' });
  await ledger.runs.stage(slice(run, { counts: { rows: 1, unchanged: 1 } }));
  const reason = {
    code: 'guardDead',
    message: 'm',
    hint: null,
    facts: { deadCount: 20, deadBase: 20, deadLimit: 0.05 },
  };
  await ledger.runs.move('r-1', ['staging'], 'stopped', { atMs: 1, reason });
  return { data, ledger };
}

describe('without a terminal', () => {
  it('nobody is asked: the run goes on, and its approval is kept with the reason', async () => {
    const { data, ledger } = await stoppedRun();
    const args = ['runs', 'approve', '--sandbox', 'r-1', '--data', data, '--detach', '--reason', 'known rows'];
    const { code, stdout, stderr } = await callPatchbay(args, {});
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: 'run r-1 is continued by the running engine, or the next one\n',
    });
    expect(await ledger.runs.get('r-1')).toMatchObject({
      state: 'applying',
      approvals: [{ figures: [{ guard: 'dead', count: 20 }], reason: 'known rows' }],
    });
  });

  it('the sandbox that the reading commands find is found, also without --sandbox', async () => {
    const { data, ledger } = await stoppedRun();
    expect((await callPatchbay(['runs', 'ls', '--data', data], {})).stdout).toContain('r-1');
    const { code, stderr } = await callPatchbay(['runs', 'approve', 'r-1', '--data', data, '--detach'], {});
    expect(code, stderr).toBe(0);
    expect(await ledger.runs.get('r-1')).toMatchObject({ state: 'applying' });
  });

  it('a file does not end up in a sandbox that nobody named, and nothing is made up where nothing is', async () => {
    const { data } = await stoppedRun();
    const missing = 'patchbay: no service is configured [serviceMissing]';
    expect((await callPatchbay(['import', 'a.csv', '--data', data], {})).stderr).toContain(missing);
    const empty = tempFolder();
    expect((await callPatchbay(['dead', 'retry', '--all', '--data', empty], {})).stderr).toContain(missing);
  });

  it('a run that was cancelled is not approved, and that is said with the reason and exit code 2', async () => {
    const { data, ledger } = await stoppedRun();
    const reason = { code: 'replaced', message: 'run r-2 took its place', hint: null, facts: {} };
    await ledger.runs.move('r-1', ['stopped'], 'cancelling', { atMs: 2, reason });
    const { code, stderr } = await callPatchbay(['runs', 'approve', '--sandbox', 'r-1', '--data', data], {});
    expect(code).toBe(2);
    expect(stderr).toContain(
      'run r-1 cannot be approved: it is not stopped but cancelling: run r-2 took its place [notStopped]',
    );
    expect(await ledger.runs.get('r-1')).toMatchObject({ state: 'cancelling', approvals: [] });
  });
});

describe('a run that somebody else has approved since it was shown', () => {
  const act = { kind: 'approve', who: 'ann', by: 'command', reason: null, atMs: 2, ledgerAtMs: 2 } as const;

  it('goes on as it was to, also where it has ended by then; not where the choice was another one, or it was cancelled', async () => {
    const { ledger } = await stoppedRun();
    const shown = await ledger.runs.get('r-1');
    if (shown?.reason == null) return expect.unreachable();
    expect(await wasApprovedMeanwhile({ ledger }, shown, null)).toBe(false);
    await ledger.runs.approve('r-1', approvalOf(shown.reason, { reason: null, atMs: 2 }), { ...act, facts: {} });
    expect(await wasApprovedMeanwhile({ ledger }, shown, null)).toBe(true);
    expect(await wasApprovedMeanwhile({ ledger }, shown, 'createAnyway')).toBe(false);
    await ledger.runs.move('r-1', ['applying'], 'done', { atMs: 3 });
    expect(await wasApprovedMeanwhile({ ledger }, shown, null)).toBe(true);
  });

  it('does not where it was cancelled behind that', async () => {
    const { ledger } = await stoppedRun();
    const shown = await ledger.runs.get('r-1');
    if (shown?.reason == null) return expect.unreachable();
    await ledger.runs.approve('r-1', approvalOf(shown.reason, { reason: null, atMs: 2 }), { ...act, facts: {} });
    await ledger.runs.move('r-1', ['applying'], 'cancelling', { atMs: 3 });
    expect(await wasApprovedMeanwhile({ ledger }, shown, null)).toBe(false);
  });
});
