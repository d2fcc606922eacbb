/**
 * The first lists of a report that is too large to be read whole: what was rejected, warned of, held and skipped. They come before
 * what the run changed, which is most of a large report.
 */
import { createReadStream } from 'node:fs';
import { createDocumentScanner } from '#src/json/document-scanner.ts';
import { parseText, textOf } from '#src/json/record-value.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { type ProblemLine, reportPath, withoutKey } from './report.ts';

export interface ReportHead {
  readonly problems: readonly ProblemLine[];
  readonly outcomes: readonly RunEvent[];
  /** Whether all problems, and all problems and outcomes, are among these. */
  readonly hasAllProblems: boolean;
  readonly hasAll: boolean;
}

/** Lists and objects inside each other: the report, a list, an entry, its lists. */
const depthMax = 64;

/** In memory of about that size. Of a file that is no report: what was read until then. @param bytesMax up to this length it is read. */
export async function readReportHead(reports: string, runId: string, bytesMax: number): Promise<ReportHead> {
  const problems: ProblemLine[] = [];
  const outcomes: RunEvent[] = [];
  let member = '';
  const ended = new Set<string>();
  const scanner = createDocumentScanner(
    {
      onRoot: () => undefined,
      onMember: ({ name, kind }) => {
        if (member !== '') ended.add(member);
        member = name;
        const isRead = kind === 'list' && (name === 'problems' || name === 'outcomes');
        return isRead ? { as: 'records', keep: 'refuse' } : { as: 'value', keep: 'skip' };
      },
      onRecord: (record) => {
        // Written by `writeReport`; our own files are trusted.
        const entry = parseText(textOf(record), record.place);
        if (member === 'problems') problems.push(withoutKey(entry as ProblemLine));
        else outcomes.push(entry as RunEvent);
      },
      onValue: () => undefined,
      onEnd: () => ended.add(member),
    },
    { valueBytesMax: bytesMax, depthMax },
  );
  try {
    for await (const bytes of createReadStream(reportPath(reports, runId), { end: bytesMax - 1 })) {
      scanner.write(bytes);
      if (ended.has('outcomes')) break;
    }
  } catch {
    // As of a report that is not there.
  }
  const hasAllProblems = ended.has('problems');
  return { problems, outcomes, hasAllProblems, hasAll: hasAllProblems && ended.has('outcomes') };
}
