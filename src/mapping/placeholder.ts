/** Words that programs write where they have no value (`rules.md`, "What a cell means"). */
import type { Flaw, WarningCode } from './flaw.ts';

const placeholders: ReadonlySet<string> = new Set(['null', 'n/a', '#n/a', 'undefined']);

/** True for `null`, `N/A`, `undefined` and the `#N/A` of spreadsheets, without regard to case. */
export function isPlaceholder(text: string): boolean {
  return placeholders.has(text.trim().toLowerCase());
}

export const placeholderWarning: Flaw<WarningCode> = {
  code: 'placeholderText',
  message: 'the cell holds a word that stands for "nothing"; it was read as blank',
  hint: 'Leave the cell blank, or write #CLEAR to remove the value.',
};
