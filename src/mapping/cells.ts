/** One value, read as its target asks, and put into the row's draft. */
import type { DesiredItem } from '#src/contacts/desired.ts';
import { unreachable } from '#src/errors.ts';
import type { CellsRow, JsonValue } from '#src/sources/row.ts';
import {
  bad,
  type Flaw,
  isJsonObject,
  isPlaceholder,
  memberOf,
  placeholderWarning,
  readCell,
  type WarningCode,
} from './cell.ts';
import { customFieldUnknown, readCustomValue } from './custom-cell.ts';
import { readPhone, splitPhones } from './phone-cell.ts';
import { type MappedRow, type Place, RowDraft, readSingle, take } from './row.ts';
import type { BoundColumn, CustomTarget, ItemsTarget, ScalarTarget, Settings, Target } from './target.ts';
import { readEmail, readKey, readSource, readSourceUrl, readText, splitEmails } from './text-cells.ts';

/** The names in which a word such as `N/A` stands for nothing (`rules.md`, "What a cell means"). */
const nameFields: ReadonlySet<string> = new Set(['firstName', 'lastName', 'company']);

const clearIgnored: Flaw<WarningCode> = {
  code: 'clearIgnored',
  message: 'a source label is written on create only and cannot be cleared',
  hint: 'Leave the cell blank.',
};

export function applyTarget(draft: RowDraft, target: Target, place: Place): void {
  switch (target.kind) {
    case 'key':
      take(draft, place, readKey(place.raw, target.prefix, place.from), (key) => draft.setKey(key));
      break;
    case 'scalar':
      applyScalar(draft, target, place);
      break;
    case 'source':
      applySource(draft, place);
      break;
    case 'items':
      applyItems(draft, target, place);
      break;
    case 'custom':
      applyCustom(draft, target, place);
      break;
    default:
      unreachable(target);
  }
}

function applyScalar(draft: RowDraft, { name, onBlank }: ScalarTarget, place: Place): void {
  const cell = readSingle(draft, place);
  if (cell === null) return;
  const placeholder = cell.kind === 'text' && nameFields.has(name) && isPlaceholder(cell.text);
  if (placeholder) draft.warn(place.field, place.raw, [placeholderWarning]);
  if (cell.kind === 'text' && !placeholder) {
    const reading = name === 'sourceUrl' ? readSourceUrl(cell.text) : readText(cell.text);
    take(draft, place, reading, (value) => draft.setScalar(name, value));
  } else if (cell.kind === 'clear' || onBlank === 'clear') {
    draft.setScalar(name, null);
  }
}

/** A blank source leaves the label to the mapping or the feed; so does null, which an export holds for no source. */
function applySource(draft: RowDraft, place: Place): void {
  const cell = readSingle(draft, place);
  if (cell?.kind === 'clear' && place.raw !== null) draft.warn(place.field, place.raw, [clearIgnored]);
  if (cell?.kind === 'text') take(draft, place, readSource(cell.text), (source) => draft.setSource(source));
}

function applyCustom(draft: RowDraft, { key, type, onBlank }: CustomTarget, place: Place): void {
  const cell = readCell(place.raw, place.from);
  if (cell.kind === 'blank' && onBlank === 'keep') return;
  if (type === 'undefined') {
    draft.problem(place.field, place.raw, customFieldUnknown);
  } else if (cell.kind === 'blank' || cell.kind === 'clear') {
    draft.addCustomField(key, null);
  } else {
    const raw = cell.kind === 'text' && typeof place.raw === 'string' ? cell.text : place.raw;
    take(draft, place, readCustomValue(raw, type), (value) => draft.addCustomField(key, value));
  }
}

/** E-mail addresses and phone numbers: one column, or one JSON array, becomes one slot. */
const itemsMax = 100;

/** A blank cell with keep leaves no slot; one that clears leaves a slot without items. */
function applyItems(draft: RowDraft, target: ItemsTarget, place: Place): void {
  if (Array.isArray(place.raw)) {
    applyArray(draft, target, place, place.raw);
    return;
  }
  const cell = readSingle(draft, place);
  if (cell === null) return;
  const items = cell.kind === 'text' ? readItems(draft, target, place, cell.text, target.label) : [];
  if (items.length > 0 || cell.kind === 'clear' || target.onBlank === 'clear') {
    draft.addSlot(target.list, target.slot, items, false);
  }
}

/**
 * A JSON array says all that its slot wants: with nothing left in it, it clears. Its elements are strings or
 * `{name, value}`; an element whose value is null or blank is left out.
 */
function applyArray(draft: RowDraft, target: ItemsTarget, place: Place, elements: readonly JsonValue[]): void {
  if (elements.length > itemsMax) {
    draft.problem(place.field, undefined, tooMany('list'));
    return;
  }
  const items = elements.flatMap((element, index) => {
    const field = `${place.field}[${index}]`;
    const isObject = isJsonObject(element);
    const raw = isObject ? (memberOf(element, 'value') ?? null) : element;
    const at = { ...place, field: isObject ? `${field}.value` : field, raw };
    const cell = readSingle(draft, at);
    const label = readLabel(draft, target, { ...place, field: `${field}.name`, raw: nameOf(element) });
    return cell?.kind === 'text' ? readItems(draft, target, at, cell.text, label) : [];
  });
  draft.addSlot(target.list, target.slot, items, target.whole === true);
}

function nameOf(element: JsonValue): JsonValue {
  return isJsonObject(element) ? (memberOf(element, 'name') ?? null) : null;
}

/** The element's own label, or the target's where it has none that is text. */
function readLabel(draft: RowDraft, target: ItemsTarget, place: Place): string {
  const cell = readCell(place.raw, place.from);
  let label = target.label;
  if (cell.kind === 'text') {
    take(draft, place, readText(cell.text), (text) => {
      label = text;
    });
  }
  return label;
}

/** The items of one text: several where it holds several, none for a placeholder. What is refused kills the row. */
function readItems(
  draft: RowDraft,
  target: ItemsTarget,
  place: Place,
  text: string,
  label: string,
): readonly DesiredItem[] {
  const parts = target.list === 'emails' ? splitEmails(text) : splitPhones(text, target.country);
  if (parts.length > itemsMax) {
    draft.problem(place.field, place.raw, tooMany('cell'));
    return [];
  }
  const items: DesiredItem[] = [];
  for (const part of parts) {
    if (isPlaceholder(part)) {
      draft.warn(place.field, place.raw, [placeholderWarning]);
    } else {
      const reading = target.list === 'emails' ? readEmail(part) : readPhone(part, target.country);
      take(draft, place, reading, (value) => items.push({ label, value }));
    }
  }
  return items;
}

function tooMany(holder: 'list' | 'cell') {
  return bad('tooManyItems', `the ${holder} has more than ${itemsMax} values`, 'Shorten it.').flaw;
}

// A CSV record → a contact: each bound column's cell goes to its target.

/** A cell that the record does not have is read as blank; the source refuses ragged rows before. */
export function mapCells(row: CellsRow, bound: readonly BoundColumn[], settings: Settings): MappedRow {
  const draft = new RowDraft(row.line, settings.sourceLabel);
  for (const { index, field, target } of bound) {
    const raw = index === null ? '' : (row.cells[index] ?? '');
    applyTarget(draft, target, { field, raw, from: 'csv' });
  }
  return draft.finish();
}
