/**
 * Which changed rows of a file a run applies: all, or those that its modes select (`docs/rules.md`, "Modes"). The others are counted as
 * skipped (`notSelected`); nothing of them is settled, so that the next file compares them anew.
 *
 * An unchanged row is unchanged in every mode. Whether a key that the feed does not know is a contact to be made is known only when
 * it was looked up, so that `createOnly` and `updateOnly` are decided once more there (`src/upsert/key-machine.ts`).
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { ForgottenPeople } from '#src/ledger/forgetting.ts';
import { enterBit, hasBit } from '#src/ledger/rules/bitmap.ts';
import { appliesAllRows, type FileShape, type RunOptions, type RunRecord } from '#src/ledger/runs.ts';
import type { KeysOfFile, StagingLedger } from '#src/ledger/staging.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import { keyOfMapped } from '#src/mapping/row.ts';
import { listNames } from '#src/sources/row.ts';
import type { LeftVerdict, Verdict } from './compare.ts';
import { possibleKeys } from './possible-keys.ts';

type Modes = Pick<RunOptions, 'only' | 'createOnly' | 'updateOnly' | 'limit' | 'verify'>;

export interface Selection {
  /**
   * The verdicts of the next slice, those on rows that are left out replaced.
   * @param isMet whether an earlier row of the run has the key: then both are judged together, whatever `limit` says.
   */
  select(verdicts: readonly Verdict[], isMet: (key: string) => boolean): readonly Verdict[];
  /** Whether the run applies all rows. */
  readonly isAll: boolean;
  /** Whether contacts may be made at all. */
  readonly makesContacts: boolean;
  /** Those of `--only`, or that are asked about, that no row had which was read; complete after the last row. Rows that are known are not read. */
  keysNotRead(): readonly string[];
  /** Sentences about what was left out, complete after the last row. @param known those of `keysNotRead` that a known row has. */
  notes(known: ReadonlySet<string>): readonly string[];
  /** Of the people who were forgotten; complete after the last row. */
  told(): Pick<FileShape, 'forgotten'>;
  /** Warnings about the file: they show the value of a row, which may be that of a person who was forgotten. */
  ofFile(warnings: readonly Problem[]): readonly Problem[];
}

/** Why a row is left out. */
type Mode = '--only' | '--create-only' | '--limit' | '--verify' | 'forgotten';

/**
 * @param people null where no person was forgotten. @param mapping tells the keys that a row without one may have.
 * @param asked keys that are looked for as those of `--only`, and select no row.
 */
export function createSelection(
  modes: Modes,
  people: ForgottenPeople | null,
  { mapRow }: Pick<CompiledMapping, 'mapRow'>,
  asked: readonly string[] = [],
): Selection {
  const { only, createOnly, updateOnly, limit, verify } = modes;
  const selected = only.length === 0 ? null : new Set(only);
  const missing = new Set([...only, ...asked]);
  const left = new Map<Mode, number>();
  let stagedCount = 0;

  const isForgotten = ({ key, row }: Verdict): boolean => {
    if (people === null) return false;
    if (key !== null) return people.has(key);
    return row !== null && possibleKeys(row, (one) => keyOfMapped(mapRow(one))).some(people.has);
  };

  const modeAgainst = (verdict: Verdict, isMet: boolean): Mode | null => {
    if (verdict.kind === 'unchanged' || verdict.kind === 'left') return null;
    if (isForgotten(verdict)) return 'forgotten';
    if (verify) return '--verify';
    if (selected !== null && (verdict.key === null || !selected.has(verdict.key))) return '--only';
    if (verdict.kind === 'rejected') return null;
    if (createOnly && verdict.isKnown) return '--create-only';
    return limit !== null && !isMet && stagedCount >= limit ? '--limit' : null;
  };

  const select: Selection['select'] = (verdicts, isMet) => {
    const here = new Set<string>();
    return verdicts.map((verdict) => {
      const { key } = verdict;
      if (key !== null) missing.delete(key);
      const isAgain = key !== null && (here.has(key) || isMet(key));
      const mode = modeAgainst(verdict, isAgain);
      if (mode !== null) {
        left.set(mode, (left.get(mode) ?? 0) + 1);
        return leftOut(verdict);
      }
      if (verdict.kind === 'changed') {
        here.add(verdict.key);
        if (!isAgain) stagedCount += 1;
      }
      return verdict;
    });
  };

  return {
    select,
    isAll: appliesAllRows(modes),
    makesContacts: !updateOnly,
    keysNotRead: () => [...missing],
    notes: (known) => [
      ...[...left].map(([mode, count]) => {
        const rows = count === 1 ? '1 row was' : `${count} rows were`;
        return mode === 'forgotten' ? `${rows} skipped: forgotten` : `${rows} left out by ${mode}`;
      }),
      ...noRowHas([...missing].filter((key) => !known.has(key))),
    ],
    told: () => (people === null ? {} : { forgotten: { rows: left.get('forgotten') ?? 0, people: people.count } }),
    ofFile: (warnings) => (left.has('forgotten') ? warnings.map((one) => ({ ...one, value: null })) : warnings),
  };
}

/**
 * Of the keys of a file that was read to its end, those that its run speaks for. Whom the file lacks has not left where only some of its
 * rows are applied. A row that the mode leaves out speaks for no key, also where it is unchanged; a file that is merely looked at speaks
 * for none.
 */
export async function keysSpokenFor(
  { saidOf }: Pick<StagingLedger, 'saidOf'>,
  { feed, options }: Pick<RunRecord, 'feed' | 'options'>,
  keys: KeysOfFile,
): Promise<KeysOfFile> {
  const missing = appliesAllRows(options) ? (keys.missing ?? null) : null;
  const { verify, createOnly, only } = options;
  if (verify || createOnly) return { ...keys, missing, unchanged: new Uint8Array() };
  if (only.length === 0) return { ...keys, missing };
  const unchanged = new Uint8Array(keys.unchanged.length);
  for (const { number } of (await saidOf(feed, only)).values())
    if (hasBit(keys.unchanged, number)) enterBit(unchanged, number);
  return { ...keys, missing, unchanged };
}

/** The note on keys of `--only`. @param row which rows were looked through. */
export function noRowHas(keys: readonly string[], row = 'row'): readonly string[] {
  return keys.length === 0
    ? []
    : [`no ${row} has the ${keys.length === 1 ? 'key' : 'keys'} ${listNames(keys)} (--only)`];
}

function leftOut({ line, row, letterId, isKnown, key }: Verdict): LeftVerdict {
  return { kind: 'left', line, row, letterId, isKnown, key, warnings: [] };
}
