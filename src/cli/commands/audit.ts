/** `patchbay audit RUN`. */

import type { Home } from '#src/app.ts';
import { auditFilePath } from '#src/audits/audit-document.ts';
import { followAudit } from '#src/ledger/follow.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type AuditResult, readAuditEnd, requestAudit } from '#src/operations/audits.ts';
import { findRun } from '#src/operations/runs.ts';
import { listenForInterrupt, reportInterrupted } from '../interrupt.ts';
import { patienceOf } from '../one-shot.ts';
import type { GlobalOptions } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { auditLines } from '../present-audit.ts';
import { openPatiently } from '../waiting.ts';
import { beginRequest } from '../work-session.ts';

interface AuditOptions extends GlobalOptions {
  readonly wait?: string;
}

/** Audits now, in this process or in the engine that runs. */
export async function auditRun(options: AuditOptions, id: string): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const home = await openPatiently(options, 'act', patienceMs);
  const output = createOutput(options);
  const interrupt = listenForInterrupt(() => {
    output.note('patchbay: the next engine continues the audit; press Ctrl-C again to leave at once');
  });
  try {
    const run = await findRun(home, id);
    const { session, entered } = await beginRequest(home, output, { patienceMs, interrupt }, () =>
      requestAudit(home, run),
    );
    try {
      const end = await session.follow((following) => followAudit({ ...following, auditId: entered.id }));
      const result = await readAuditEnd(home, end, output.values);
      print(home, output, run, result);
      return result.exitCode;
    } finally {
      await session.leave();
    }
  } catch (error) {
    const code = interrupt.exitCode();
    if (code === null) throw error;
    return reportInterrupted(output, 'interrupted: the next engine continues the audit', code, error);
  } finally {
    interrupt.dispose();
    await home.close();
  }
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
    output.line(output.paste(`  ${printable(reason.hint)}`));
    return;
  }
  output.line(`  ${counted(document.requests, 'read')} sent`);
  output.line(`  report: ${report}`);
}
