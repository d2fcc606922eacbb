/** The run reports of a data folder, held to the rule of accounting: the outcomes add up to the rows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TorturedReport {
  readonly run: string;
  readonly file: string;
  readonly rows: number;
  readonly created: number;
  /** The codes of its dead rows. */
  readonly deadCodes: readonly string[];
  /** What is wrong with it, in words. */
  readonly flaws: readonly string[];
}

interface ReportFile {
  readonly run: string;
  readonly file: string;
  readonly state: string;
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly dead: number;
  readonly pending: number;
  readonly problems: readonly { readonly code: string }[];
}

export function readReports(data: string): readonly TorturedReport[] {
  const folder = join(data, 'reports');
  // Beside a report lies the file of its run's audits, and perhaps what a killed writer left.
  const names = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => /^[^.]+\.json$/.test(name));
  return names.sort().map((name) => toReport(JSON.parse(readFileSync(join(folder, name), 'utf8')) as ReportFile));
}

function toReport(report: ReportFile): TorturedReport {
  const { run, file, state, rows, created, updated, unchanged, skipped, dead, pending } = report;
  const flaws: string[] = [];
  const sum = created + updated + unchanged + skipped + dead;
  if (sum !== rows || pending !== 0) flaws.push(`run ${run}: ${rows} rows, and ${sum} have an outcome`);
  if (state !== (dead > 0 ? 'doneWithDead' : 'done')) flaws.push(`run ${run} is ${state} with ${dead} dead rows`);
  return { run, file, rows, created, deadCodes: report.problems.map(({ code }) => code), flaws };
}
