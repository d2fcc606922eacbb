/**
 * One card alone in a full file of vCards. Outlook and iPhones write a file for each person: read as full files of one feed, each would
 * say that all others have left, and `onMissing` would empty their contacts one file after the other. Pure.
 */
import type { RunRecord } from '#src/ledger/runs.ts';
import { shellWord } from '#src/shell-words.ts';
import type { FileHistory, GuardLimits, GuardVerdict, StagedTally } from './guards.ts';

type OfRun = Pick<RunRecord, 'feed' | 'shape' | 'options'>;

/** Of a file that lacks as many of the feed's people, one card is no list any more. One person may have left a list of two. */
const othersMin = 2;

/** Stops a run that would change the contacts of those whom such a file lacks, however few they are. */
export function loneCardVerdict(
  run: OfRun,
  { rows, updates, known, gone }: StagedTally,
  { updatesMax }: Pick<GuardLimits, 'updatesMax'>,
  history: FileHistory | null,
): readonly GuardVerdict[] {
  if (run.options.accept || gone === 0 || !isLoneCard(run, rows)) return [];
  const before = history?.before ?? null;
  // The file before had one card, too, and of another person.
  const isOneOfMany = before?.rows === 1 && before.keys === 1 && before.sharedKeys === 0;
  if ((run.shape?.missing?.count ?? 0) < othersMin && !isOneOfMany) return [];
  const advice = `${sentenceCase(cureFor(run))}.`;
  return [{ guard: 'updates', count: updates, base: known, limit: updatesMax, gone, isLoneCard: true, advice }];
}

/** Where nothing stops the run: some people are missing for the first time. */
export function loneCardNotes(run: OfRun, { rows }: Pick<StagedTally, 'rows'>): readonly string[] {
  if (!isLoneCard(run, rows) || (run.shape?.missing?.new ?? 0) === 0) return [];
  return [`the file holds one card alone, and a full file says that all others have left: ${cureFor(run)}`];
}

function isLoneCard({ shape }: OfRun, rows: number): boolean {
  return shape?.format === 'vcf' && shape.missing !== undefined && rows === 1;
}

function cureFor({ feed }: OfRun): string {
  return `where each file holds one person, write kind: delta into the configuration of feed ${shellWord(feed)}, or join them to one file (cat *.vcf > all.vcf)`;
}

function sentenceCase(text: string): string {
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}
