/** One value, read as its target asks, and put into the row's draft. */
import { unreachable } from '#src/errors.ts';
import { applyItems } from './apply-items.ts';
import { readCell } from './cell.ts';
import { customFieldUnknown, readCustomValue } from './custom-cell.ts';
import type { Flaw, WarningCode } from './flaw.ts';
import { readKey } from './key-cell.ts';
import { type Place, readSingle, take } from './place.ts';
import { isPlaceholder, placeholderWarning } from './placeholder.ts';
import type { RowDraft } from './row-draft.ts';
import { readSource } from './source-label.ts';
import { readSourceUrl } from './source-url-cell.ts';
import type { CustomTarget, ScalarTarget, Target } from './target.ts';
import { readText } from './text-cell.ts';

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
