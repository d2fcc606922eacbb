/**
 * A row on its way to a desired contact: collects fields and every problem, then decides.
 *
 * Invariant: a slot holds a value once. Two slots may hold the same: it is then said as long as one of them says it.
 */
import type {
  DesiredContact,
  DesiredCustomField,
  DesiredItem,
  DesiredScalars,
  ScalarName,
  Slot,
} from '#src/contacts/desired.ts';
import type { Problem } from '#src/contacts/outcome.ts';
import type { JsonValue } from '#src/sources/row.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import { bad, type Cell, type Flaw, type Reading, readCell } from './cell.ts';
import type { ItemList } from './target.ts';

/** What became of a row. A dead row names all its problems, not the first only. */
export type MappedRow =
  | { readonly kind: 'desired'; readonly desired: DesiredContact; readonly warnings: readonly Problem[] }
  | {
      readonly kind: 'dead';
      /** Null where the key itself could not be read. */
      readonly key: string | null;
      readonly problems: readonly Problem[];
      readonly warnings: readonly Problem[];
    };

const valueLengthMax = 200;

export class RowDraft {
  readonly #line: number;
  readonly #problems: Problem[] = [];
  readonly #warnings: Problem[] = [];
  readonly #slots: Record<ItemList, Slot[]> = { emails: [], phones: [] };
  readonly #customFields: DesiredCustomField[] = [];
  #scalars: DesiredScalars = {};
  #key: string | null = null;
  #source: string | null;

  /** `sourceLabel` is used where the row names no source of its own. */
  constructor(line: number, sourceLabel: string | null) {
    this.#line = line;
    this.#source = sourceLabel;
  }

  /** Kills the row. */
  problem(field: string | null, raw: JsonValue | undefined, flaw: Flaw): void {
    this.#problems.push(this.#note(field, raw, flaw));
  }

  warn(field: string | null, raw: JsonValue | undefined, flaws: readonly Flaw[]): void {
    for (const flaw of flaws) this.#warnings.push(this.#note(field, raw, flaw));
  }

  setKey(key: string): void {
    this.#key = key;
  }

  setSource(source: string): void {
    this.#source = source;
  }

  setScalar(name: ScalarName, value: string | null): void {
    this.#scalars = { ...this.#scalars, [name]: value };
  }

  addSlot(list: ItemList, slot: string, items: readonly DesiredItem[], isWhole: boolean): void {
    const seen = new Set<string>();
    const once = items.filter(({ value }) => !seen.has(value) && seen.add(value));
    this.#slots[list].push({ slot, items: once, ...(isWhole ? { whole: true } : {}) });
  }

  addCustomField(key: string, value: CustomFieldValue): void {
    this.#customFields.push({ key, value });
  }

  /** Dead with any problem or without a key; else the desired contact. */
  finish(): MappedRow {
    const key = this.#key;
    if (key === null || this.#problems.length > 0) {
      return { kind: 'dead', key, problems: this.#problems, warnings: this.#warnings };
    }
    const desired = {
      key,
      scalars: this.#scalars,
      source: this.#source,
      emails: this.#slots.emails,
      phones: this.#slots.phones,
      customFields: this.#customFields,
    };
    return { kind: 'desired', desired, warnings: this.#warnings };
  }

  #note(field: string | null, raw: JsonValue | undefined, { code, message, hint }: Flaw): Problem {
    return { code, line: this.#line, field, value: raw === undefined ? null : showValue(raw), message, hint };
  }
}

/** The cell as the file holds it; JSON that is no text as JSON. Cut after 200 characters. */
function showValue(raw: JsonValue): string {
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw);
  return [...text.slice(0, 2 * valueLengthMax)].slice(0, valueLengthMax).join('');
}

/** A value with the place it stands in, and the two ways it can go: used, or a problem of its row. */
export interface Place {
  /** As the file names it: a column, or `defaultFields.emails[1].value`. */
  readonly field: string;
  readonly raw: JsonValue;
  /** Only CSV guards values against formulas. */
  readonly from: 'csv' | 'json';
}

/** Passes a good value on, with its warnings; a flaw kills the row. */
export function take<Value>(draft: RowDraft, place: Place, reading: Reading<Value>, use: (value: Value) => void): void {
  if (reading.ok) {
    draft.warn(place.field, place.raw, reading.warnings);
    use(reading.value);
  } else {
    draft.problem(place.field, place.raw, reading.flaw);
  }
}

/** A cell that may hold one text; null where it holds anything else, which kills the row. */
export function readSingle(draft: RowDraft, place: Place): Exclude<Cell, { kind: 'list' | 'wrong' }> | null {
  const cell = readCell(place.raw, place.from);
  if (cell.kind !== 'list' && cell.kind !== 'wrong') return cell;
  const listRefused = bad('notText', 'a list stands where one text is expected', 'Write one value as a string.').flaw;
  draft.problem(place.field, place.raw, cell.kind === 'list' ? listRefused : cell.flaw);
  return null;
}
