/**
 * Which runs have found keys unchanged, from the bitmaps that they left behind.
 *
 * A run that is stopped or cancelled before it was applied has settled nothing: what it found is withheld. When it goes on after
 * all, its file says the same as before; only where an older row was settled meanwhile must it be read anew.
 */
import { countBits, emptyBitmap, enterBit, hasBit, union } from '#src/ledger/rules/bitmap.ts';
import { noWrites } from '#src/ledger/rules/key-rows.ts';
import type { OlderWrites, RunRecord, RunState } from '#src/ledger/runs.ts';
import type { BitmapKind } from '#src/ledger/tables/runs.ts';
import type { Tables } from '#src/ledger/tables.ts';

interface AskedKey {
  readonly key: string;
  /** Null for a key that no bitmap can have. */
  readonly number: number | null;
  /** Of the row that asks: runs behind it count. */
  readonly sequence: number;
}

/** A bitmap of a million keys has 125 KB. */
const bitmapsAtOnce = 8;

/**
 * By key, the newest run of the feed behind the asking row that found the key unchanged; without those that none did. Most
 * rows are of the newest run, and cost one statement that finds nothing.
 */
export async function confirmedSince(
  { runs }: Pick<Tables, 'runs'>,
  feed: string,
  asked: readonly AskedKey[],
): Promise<ReadonlyMap<string, number>> {
  const confirmed = new Map<string, number>();
  let left = asked.flatMap(({ number, ...one }) => (number === null ? [] : [{ ...one, number }]));
  let to = Number.MAX_SAFE_INTEGER;
  // Ends when no key is left, or no run: each turn asks for older ones.
  while (left.length > 0) {
    const from = Math.min(...left.map(({ sequence }) => sequence)) + 1;
    const page = await runs.bitmaps(feed, 'unchanged', from, to, bitmapsAtOnce);
    for (const { sequence: run, bits } of page) {
      for (const { key, number, sequence } of left) {
        if (run > sequence && hasBit(bits, number) && !confirmed.has(key)) confirmed.set(key, run);
      }
    }
    const last = page.at(-1);
    if (last === undefined || page.length < bitmapsAtOnce) break;
    to = last.sequence - 1;
    left = left.filter(({ key }) => !confirmed.has(key));
  }
  return confirmed;
}

/** As what a run that goes on keeps which rows were unchanged: those of a fix-file or a redrive are older than their run. */
export function unchangedKind({ kind }: Pick<RunRecord, 'kind'>): BitmapKind {
  return kind === 'file' ? 'unchanged' : 'answered';
}

/** What a run that moves on found unchanged counts from now on, or does not any more. @param run as it was before. */
export async function withholdUnchanged(
  { runs }: Pick<Tables, 'runs'>,
  run: Pick<RunRecord, 'sequence' | 'feed' | 'kind' | 'state'>,
  to: RunState,
): Promise<void> {
  const kind = unchangedKind(run);
  const isWithheld = run.state === 'staging' ? to !== 'staging' && to !== 'applying' : to === 'queued';
  if (isWithheld) await turn(kind, 'withheld');
  else if (to === 'applying') await turn('withheld', kind);

  async function turn(from: BitmapKind, into: BitmapKind): Promise<void> {
    const [found] = await runs.bitmaps(run.feed, from, run.sequence, run.sequence);
    if (found === undefined) return;
    await runs.putBitmap(run.sequence, into, found.bits);
    await runs.deletePart(run.sequence, from, 1);
  }
}

/** Rows were settled: newer runs whose rows of these keys were unchanged, and are withheld, have been overtaken by them. */
export async function overtakeWithheld(
  { runs }: Pick<Tables, 'runs'>,
  feed: string,
  settled: readonly AskedKey[],
): Promise<void> {
  const numbered = settled.flatMap(({ number, ...one }) => (number === null ? [] : [{ ...one, number }]));
  if (numbered.length === 0) return;
  const from = Math.min(...numbered.map(({ sequence }) => sequence)) + 1;
  // Runs that are stopped, and cancelled ones that are being ended.
  for (const { sequence: run, bits } of await runs.bitmaps(feed, 'withheld', from, Number.MAX_SAFE_INTEGER)) {
    const overtaken = numbered.filter(({ number, sequence }) => run > sequence && hasBit(bits, number));
    if (overtaken.length === 0) continue;
    const now = emptyBitmap(Math.max(...overtaken.map(({ number }) => number)));
    for (const { number } of overtaken) enterBit(now, number);
    const [before] = await runs.bitmaps(feed, 'overtaken', run, run);
    await runs.putBitmap(run, 'overtaken', before === undefined ? now : union(before.bits, now));
  }
}

/** Why a file's run whose unchanged rows are withheld cannot go on as it was staged: those rows are not, and would leave what an older row wrote. */
export async function findOlderWrites(
  { runs }: Pick<Tables, 'runs'>,
  { feed, sequence, kind }: Pick<RunRecord, 'feed' | 'sequence' | 'kind'>,
): Promise<OlderWrites | null> {
  if (kind !== 'file') return null;
  const bitsOf = async (of: BitmapKind) => (await runs.bitmaps(feed, of, sequence, sequence)).at(0)?.bits;
  const overtaken = await bitsOf('overtaken');
  if (overtaken !== undefined) return { kind: 'overtaken', count: countBits(overtaken) };
  const withheld = await bitsOf('withheld');
  if (withheld === undefined || countBits(withheld) === 0) return null;
  const [older] = await runs.findRuns({ feed, states: ['applying'], beforeSequence: sequence }, 1);
  return older === undefined ? null : { kind: 'underWay', runId: older.id };
}

/** No row of the feed that is older than the given sequence is written to these keys any more. Keys that it does not know stay unknown. */
export async function speakFor(
  { keys }: Pick<Tables, 'keys'>,
  feed: string,
  spoken: readonly { readonly key: string; readonly sequence: number }[],
): Promise<void> {
  if (spoken.length === 0) return;
  const rows = await keys.read(
    spoken.map(({ key }) => key),
    [feed],
  );
  const known = spoken.flatMap(({ key, sequence }) => {
    return (rows.get(key)?.known ?? []).flatMap((one) => (one.spoken < sequence ? [{ ...one, spoken: sequence }] : []));
  });
  if (known.length > 0) await keys.write({ ...noWrites, known });
}
