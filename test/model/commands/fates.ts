/** What became of each row, as the reports of the runs tell it: a row that no report names reached its contact. */
import { readReport } from '#src/runs/report.ts';
import type { Row } from './model.ts';

export interface Fate {
  readonly skipped: string | null;
  /** The code of its death. */
  readonly dead: string | null;
  readonly held: ReadonlySet<string>;
}

export interface Fates {
  of(row: Row): Fate;
}

export async function readFates(reports: string, runIds: readonly string[]): Promise<Fates> {
  const byPlace = new Map<string, Fate>();
  const fateOf = (runId: string, line: number): Fate =>
    byPlace.get(`${runId}:${line}`) ?? { skipped: null, dead: null, held: new Set() };
  for (const runId of runIds) {
    const report = await readReport(reports, runId);
    if (report === null) throw new Error('a run has no report');
    const note = (line: number, change: Partial<Fate>): void => {
      byPlace.set(`${runId}:${line}`, { ...fateOf(runId, line), ...change });
    };
    for (const { line, code } of report.problems) note(line, { dead: code });
    for (const { kind, line, code, field } of report.outcomes) {
      if (kind === 'skipped') note(line, { skipped: code });
      if (kind === 'held') note(line, { held: new Set([...fateOf(runId, line).held, field ?? '']) });
    }
  }
  return { of: ({ runId, line }) => fateOf(runId, line) };
}
