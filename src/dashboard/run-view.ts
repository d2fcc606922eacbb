/** A run as the page and its JSON twin show it: what the ledger holds, in the shape of `import --json`. */
import { isFinal, type RunRecord } from '#src/ledger/runs.ts';
import { fixFilePath } from '#src/runs/fix-file.ts';
import { type RunSummary, reportPath, summarise } from '#src/runs/report.ts';
import type { DashboardParts } from './parts.ts';

export interface RunView {
  readonly record: RunRecord;
  readonly summary: RunSummary;
}

export function viewRun(
  parts: Pick<DashboardParts, 'serviceName' | 'reportsFolder' | 'clock'>,
  run: RunRecord,
): RunView {
  const hasFixFile = isFinal(run.state) && run.counts.dead > 0;
  return {
    record: run,
    summary: summarise(run, {
      serviceName: parts.serviceName,
      reportPath: reportPath(parts.reportsFolder, run.id),
      fixFile: hasFixFile ? fixFilePath(run) : null,
      nowMs: parts.clock.nowMs(),
    }),
  };
}
