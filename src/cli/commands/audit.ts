/** `patchbay audit RUN`: looks now whether every key that the run touched has exactly one contact. */
import type { Home } from '#src/app.ts';
import { auditFilePath } from '#src/audits/audit-document.ts';
import { followAudit } from '#src/audits/follow-audit.ts';
import type { GlobalOptions } from '#src/cli/open-home.ts';
import { type AuditResult, auditResultOf } from '#src/cli/present-audit.ts';
import { PatchbayError } from '#src/errors.ts';
import type { AuditRecord } from '#src/ledger/audits.ts';
import { isFinal, type RunRecord } from '#src/ledger/runs.ts';
import { approveCommand } from '#src/runs/guards.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { patienceOf } from '../one-shot.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { auditLines } from '../present-audit.ts';
import { takeSeatFor } from '../seat.ts';
import { findRun } from './runs.ts';

interface AuditOptions extends GlobalOptions {
  readonly wait?: string;
}

export async function auditRun(options: AuditOptions, id: string): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const home = await openCliHome(options, 'work');
  const output = createOutput(options);
  const interrupt = listenForInterrupt(() => {
    output.note('patchbay: the audit goes on with the next engine; press Ctrl-C again to leave at once');
  });
  try {
    const run = await findRun(home, id);
    requireEnded(run, home.serviceName);
    const { seat, entered } = await takeSeatFor(home, output, { patienceMs, interrupt }, () => demand(home, run));
    try {
      const end = await seat.follow((following) => followAudit({ ...following, auditId: entered.id }));
      const result = await auditResultOf(home, end, output.values);
      print(home, output, run, result);
      return result.exitCode;
    } finally {
      await seat.leave();
    }
  } catch (error) {
    const code = interrupt.exitCode();
    if (code === null) throw error;
    if (output.json)
      output.document({ error: { code: 'interrupted', message: 'interrupted', hint: null }, exitCode: code });
    return code;
  } finally {
    interrupt.dispose();
    await home.close();
  }
}

/** What a run wrote last may land late, and be seen in lists later still: the first audit knows when that is over. */
async function demand({ ledger, clock }: Home, run: RunRecord): Promise<AuditRecord> {
  const first = (await ledger.audits.ofRun(run.id)).find((audit) => audit.kind === 'first');
  const dueAtMs = Math.max(await ledger.nowMs(clock), first?.dueAtMs ?? 0);
  return ledger.audits.demand({ runId: run.id, atMs: clock.nowMs(), dueAtMs });
}

function requireEnded(run: RunRecord, serviceName: string): void {
  if (isFinal(run.state)) return;
  throw new PatchbayError('usage', 'runNotEnded', `run ${run.id} is ${run.state}, and only an ended run is audited`, {
    hint:
      run.state === 'stopped'
        ? `Look at it with: patchbay runs show ${run.id}. Or let it go on: ${approveCommand(run.id, serviceName)}`
        : 'Wait for its end: patchbay status tells when it is there.',
  });
}

function print(home: Home, output: Output, run: RunRecord, { document, exitCode, reason }: AuditResult): void {
  const report = auditFilePath(home.runFolders.reports, run.id);
  if (output.json) {
    const facts = { feed: run.feed, file: run.fileName, service: home.serviceName, report, exitCode };
    const error = reason === null ? {} : { error: reason };
    output.document({ ...document, ...facts, ...error });
    return;
  }
  const { style } = output;
  output.line(`${style('bold', printable(run.fileName))} → ${home.serviceName}: run ${run.id}`);
  for (const line of auditLines(output, document)) output.line(line);
  if (reason !== null) {
    output.line(`  ${style('red', printable(reason.message))} [${reason.code}]`);
    output.line(`  ${printable(reason.hint)}`);
    return;
  }
  output.line(`  ${document.requests} read${document.requests === 1 ? '' : 's'} sent`);
  output.line(`  report: ${report}`);
}
