/** E-mail addresses and phone numbers: one column, or one JSON array, becomes one slot. */
import type { DesiredItem } from '#src/contacts/desired.ts';
import type { JsonValue } from '#src/sources/row.ts';
import { readCell } from './cell.ts';
import { readEmail, splitEmails } from './email-cell.ts';
import { bad } from './flaw.ts';
import { isJsonObject, memberOf } from './json-object.ts';
import { readPhone } from './phone-cell.ts';
import { type Place, readSingle, take } from './place.ts';
import { isPlaceholder, placeholderWarning } from './placeholder.ts';
import type { RowDraft } from './row-draft.ts';
import { splitPhones } from './split-phones.ts';
import type { ItemsTarget } from './target.ts';
import { readText } from './text-cell.ts';

const itemsMax = 100;

/** A blank cell with keep leaves no slot; one that clears leaves a slot without items. */
export function applyItems(draft: RowDraft, target: ItemsTarget, place: Place): void {
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
