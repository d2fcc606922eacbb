/**
 * Whether a cell of a fix-file is unchanged, apart from what a spreadsheet does to a file that is merely opened and saved:
 * `007` becomes 7, `+4915112345678` becomes 4.91511E+12, `2026-11-21` becomes 21/11/2026, `TRUE` becomes WAHR. Such a change is not a
 * person's correction (`docs/rules.md`, "Dead letters"). Pure.
 *
 * The question is always whether a spreadsheet could show the original so, never the other way round: any other change is a
 * correction. What comes back means the same as what was there, so that to restore it takes nothing away, unless a person wrote it in
 * another way because it was rejected: in such a cell only lost digits and letters count.
 */
import { isSameDate, type Opened } from './damaged-date.ts';
import { isSameNumber, isSamePlainNumber } from './damaged-number.ts';

/** Where and when a cell may have been damaged. */
export interface CellPlace extends Opened {
  /** The row was rejected for this cell. */
  readonly isRejected: boolean;
}

export function isSameButForDamage(original: string, found: string, place: CellPlace): boolean {
  const before = tidy(original);
  const after = tidy(found);
  if (
    before === after ||
    // Some remove the apostrophe that marks a text.
    before.replace(/^'/, '') === after ||
    isSamePlainNumber(before, after) ||
    isSameInCodePage(before, after)
  )
    return true;
  if (place.isRejected) return false;
  return isSameTruth(before, after) || isSameNumber(before, after) || isSameDate(before, after, place);
}

function tidy(text: string): string {
  return text.replace(/\r\n?/g, '\n').trim();
}

/** As spreadsheets show them, in capital letters; workbooks and other programs in small ones as well. */
const truths = {
  yes: 'TRUE WAHR VRAI VERDADERO VERO VERDADEIRO WAAR SANT SAND TOSI PRAWDA PRAVDA IGAZ DOĞRU ИСТИНА'.split(' '),
  no: 'FALSE FALSCH FAUX FALSO ONWAAR FALSKT USANN FALSK EPÄTOSI FAŁSZ NEPRAVDA HAMIS YANLIŞ ЛОЖЬ'.split(' '),
};

function isSameTruth(original: string, found: string): boolean {
  const shown = /^(?:true|false)$/i.test(found) ? found.toUpperCase() : found;
  return Object.values(truths).some((words) => words.includes(original.toUpperCase()) && words.includes(shown));
}

/** Saved in a code page that lacks some of the letters. */
function isSameInCodePage(original: string, found: string): boolean {
  if (!found.includes('?') && !found.includes('_')) return false;
  const before = [...original];
  const after = [...found];
  return (
    before.length === after.length &&
    before.every((char, index) => char === after[index] || (char > '\u007f' && /[?_]/.test(after[index] ?? '')))
  );
}
