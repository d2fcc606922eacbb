/**
 * Text in another encoding than UTF-8: which code page it is in, Windows-1252, which most of it is, or another one; and text that
 * was decoded wrongly before it came here, which can only be warned about.
 *
 * Each byte beyond ASCII is a letter in one code page and a sign in the next. In the right one, letters are inside words and
 * capitals begin them; in a wrong one, words hold signs ("Zo‘", "CafŽ"). So the words of the file are scored under each
 * code page. Mac Roman is chosen where it clearly fits and Windows-1252 clearly does not; in all other cases Windows-1252
 * is, and where a word looks wrong the warning names it, with what another code page would make of it.
 */
import { isUtf8 } from 'node:buffer';
import type { Problem } from '#src/contacts/outcome.ts';
import { shownValue } from './row.ts';

/** A word with bytes beyond ASCII, and the byte before and behind it. */
interface ForeignWord {
  /** The physical line that it begins on. */
  readonly line: number;
  readonly bytes: Uint8Array;
}

export interface CodePage {
  readonly label: 'windows-1252' | 'macintosh';
  /** The first word that looks wrong, and the code page under which it looks right; null where all look right. */
  readonly doubt: {
    readonly line: number;
    readonly word: string;
    readonly meant: string;
    readonly label: string;
  } | null;
}

/** Words that are looked at. */
const foreignWordsMax = 2_000;

/** Offered where they fit better than Windows-1252. Text of all of them is rare enough that a person should decide. */
const offered = ['macintosh', 'windows-1250', 'windows-1251'] as const;
type Label = 'windows-1252' | (typeof offered)[number];

/** Means of the scores, each from -1 to 1, for text that is clearly in Mac Roman. Real text in either has a distance above 0.7. */
const macMeanMin = 0.45;
const windowsMeanMax = 0.25;
const distanceMin = 0.7;
/** One odd sign in a file proves nothing. */
const impossibleMin = 2;
/** A character with this score or less cannot be where it is. */
const impossible = -0.7;

/** Pure. */
export function chooseCodePage(words: readonly ForeignWord[]): CodePage {
  const windows = meanScore(words, 'windows-1252');
  const mac = meanScore(words, 'macintosh');
  const isMac =
    mac.mean >= macMeanMin &&
    windows.mean <= windowsMeanMax &&
    mac.mean - windows.mean >= distanceMin &&
    windows.impossibleCount >= impossibleMin;
  if (isMac) return { label: 'macintosh', doubt: null };
  return { label: 'windows-1252', doubt: doubtOf(words, windows.mean) };
}

/** Means of text whose code page is one of these, with one byte for each character. Text with two has lower ones. */
const latinMeanMin = 0.25;
const cyrillicMeanMin = 0.6;

/** Whether one of the code pages that are known here fits. Pure. */
export function fitsCodePage(words: readonly ForeignWord[]): boolean {
  const means = (['windows-1252', ...offered] as const).map((label) => ({ label, mean: meanScore(words, label).mean }));
  return means.some(({ label, mean }) => mean >= (label === 'windows-1251' ? cyrillicMeanMin : latinMeanMin));
}

/**
 * Another code page is offered only where it fits the whole file better, since one odd word may simply be odd, and only for a word that
 * is odd: nearly every sign is a letter in another code page ("5 €" is "5 Ä" in Mac Roman), and stands rightly where signs do.
 */
function doubtOf(words: readonly ForeignWord[], windowsMean: number): CodePage['doubt'] {
  const [best] = offered
    .map((label) => ({ label, mean: meanScore(words, label).mean }))
    .filter(({ mean }) => mean > windowsMean)
    .sort((left, right) => right.mean - left.mean);
  if (best === undefined) return null;
  for (const word of words) {
    if (!looksWrong(word, 'windows-1252')) continue;
    if (sumOf(scoresOf(word, best.label)) <= sumOf(scoresOf(word, 'windows-1252'))) continue;
    const shown = [shownWord(word, 'windows-1252'), shownWord(word, best.label)] as const;
    return { line: word.line, word: shown[0], meant: shown[1], label: best.label };
  }
  return null;
}

interface Scores {
  readonly mean: number;
  readonly impossibleCount: number;
}

function meanScore(words: readonly ForeignWord[], label: Label): Scores {
  const scores = words.flatMap((word) => scoresOf(word, label));
  const mean = scores.length === 0 ? 0 : sumOf(scores) / scores.length;
  return { mean, impossibleCount: scores.filter((score) => score <= impossible).length };
}

function sumOf(scores: readonly number[]): number {
  return scores.reduce((sum, score) => sum + score, 0);
}

/** Of each character beyond ASCII. */
function scoresOf({ bytes }: ForeignWord, label: Label): readonly number[] {
  const text = decode(bytes, label);
  return [...bytes].flatMap((byte, index) => (byte < 0x80 ? [] : [characterScore(text, index, bytes, label)]));
}

/** Signs that words begin with. */
const openingSigns = '‘“„‚«‹¿¡–—•·§©£¥±';
/** What is in front of an apostrophe (`O’Brien`, `qu’il`, `’n’`) or behind it (`it’s`, `James’`). */
const beforeApostrophe = /(?<!\p{L})\p{L}{0,2}$/u;
const behindApostrophe = /^(?:[sdmt]|re|ll|ve)?(?!\p{L})/iu;

/** Whether a letter is an unusual one, or a sign is where it does not belong. */
function looksWrong({ bytes }: ForeignWord, label: Label): boolean {
  const text = decode(bytes, label);
  return [...bytes].some((byte, index) => {
    if (byte < 0x80) return false;
    const char = text[index] ?? '';
    const behind = text.slice(index + 1);
    if (char === '’') return !beforeApostrophe.test(text.slice(0, index)) && !behindApostrophe.test(behind);
    const score = characterScore(text, index, bytes, label);
    if (isLetter(char) && !ordinalSigns.includes(char)) return score < 0.5;
    return score <= 0 || (isLetter(behind.slice(0, 1)) && !openingSigns.includes(char));
  });
}

const commonLetters = 'äöüßéèáíóúñçàåøæêëïîôûâãõąćęłńśźżčřěůőűčďťňșțăđ';
const uncommonLetters = 'ìòùýšžœðþÿ';
const closingQuotes = '‘“';
/** Of numbers (`1º`, `2ª`): letters to Unicode. */
const ordinalSigns = 'ªº';

/** How well a character fits where it is: from -1, it cannot be there, to 1, it is a usual letter. */
function characterScore(text: string, index: number, bytes: Uint8Array, label: Label): number {
  const char = text[index] ?? '';
  const [before, after] = [text[index - 1] ?? ' ', text[index + 1] ?? ' '];
  if (/\p{Script=Cyrillic}/u.test(char)) return cyrillicScore(char, before, after);
  if (label === 'windows-1251') return -1;
  if (!isLetter(char) || ordinalSigns.includes(char)) return signScore(char, before, after);
  // Three letters beyond ASCII in a row are another script.
  if ((bytes[index - 1] ?? 0) >= 0x80 && (bytes[index + 1] ?? 0) >= 0x80) return -1;
  const isUpper = char !== char.toLowerCase();
  if (isUpper && isLower(before)) return -1;
  if (!isUpper && isUpperLetter(after)) return -1;
  if (!isUpper && isUpperLetter(before) && isUpperLetter(text[index - 2] ?? ' ')) return -1;
  const lower = char.toLowerCase();
  if (commonLetters.includes(lower)) return 1;
  return uncommonLetters.includes(lower) ? 0.3 : -0.5;
}

/** Quotes, dashes and signs belong beside words; an apostrophe belongs into them. */
function signScore(char: string, before: string, after: string): number {
  const [inFront, behind] = [isLetter(before), isLetter(after)];
  if (/\p{Cc}/u.test(char)) return -1;
  if (char === '’') return inFront ? 0.7 : 0;
  if (inFront && behind) return char === '–' || char === '·' ? 0 : -1;
  if (closingQuotes.includes(char) && inFront) return -0.7;
  if ('®™©…”»°ªº€–—'.includes(char)) return 0.5;
  return inFront ? -0.5 : 0.3;
}

function cyrillicScore(char: string, before: string, after: string): number {
  const isUpper = char !== char.toLowerCase();
  if (isUpper && isLower(before)) return -1;
  const isBesideLatin = [before, after].some((one) => /[a-z]/i.test(one));
  return isBesideLatin ? -1 : 1;
}

function isLetter(char: string): boolean {
  return /\p{L}/u.test(char);
}

function isLower(char: string): boolean {
  return isLetter(char) && char !== char.toUpperCase();
}

function isUpperLetter(char: string): boolean {
  return isLetter(char) && char !== char.toLowerCase();
}

const tables = new Map<string, readonly string[]>();

/** One character for each byte. */
function decode(bytes: Uint8Array, label: Label): string {
  let table = tables.get(label);
  if (table === undefined) {
    table = [...new TextDecoder(label).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))];
    tables.set(label, table);
  }
  let text = '';
  for (const byte of bytes) text += table[byte] ?? '';
  return text;
}

function shownWord({ bytes }: ForeignWord, label: Label): string {
  return decode(bytes, label)
    .replace(/^[^\p{L}\p{S}\p{P}]+|\s+$|[\r\n].*$/gu, '')
    .replace(/^[,;|"]+|[,;|"]+$/g, '');
}

const wordBytesMax = 60;

export interface WordCollector {
  /** @returns whether there are enough. */
  add(bytes: Uint8Array): boolean;
  /** After the last byte. */
  words(): readonly ForeignWord[];
  /** More words are UTF-8 than not: some bytes of a UTF-8 file are damaged. */
  isMostlyUtf8(): boolean;
}

/** Takes the bytes of a file in order and collects the words in them that hold bytes beyond ASCII and are not UTF-8. */
export function createWordCollector(): WordCollector {
  const words: ForeignWord[] = [];
  let utf8Count = 0;
  let open: number[] = [];
  let isForeign = false;
  let line = 1;
  let openLine = 1;
  let previous = 0x20;

  const close = (byte: number): void => {
    const bytes = Uint8Array.from([...open, byte]);
    if (isForeign && isUtf8(bytes)) utf8Count += 1;
    else if (isForeign) words.push({ line: openLine, bytes });
    open = [];
    isForeign = false;
  };
  return {
    add: (bytes) => {
      for (const byte of bytes) {
        if (isWordByte(byte)) {
          if (open.length === 0) {
            open.push(previous);
            openLine = line;
          }
          if (open.length < wordBytesMax) open.push(byte);
          isForeign ||= byte >= 0x80;
        } else if (open.length > 0) close(byte);
        if (byte === 0x0d || (byte === 0x0a && previous !== 0x0d)) line += 1;
        previous = byte;
        if (words.length + utf8Count >= foreignWordsMax) return true;
      }
      return false;
    },
    words: () => {
      close(0x20);
      return words;
    },
    isMostlyUtf8: () => utf8Count > words.length,
  };
}

/** ASCII letters and all bytes beyond ASCII. */
function isWordByte(byte: number): boolean {
  return byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

// Text that was decoded wrongly before it came here: UTF-8 that another program took for Windows-1252 or Mac Roman ("MÃ¼ller",
// "M√ºller"), or of which letters are lost ("M�ller"). It is valid text, so no encoding that is chosen here can repair it. It is
// read as it is, with a warning, since only the program that makes the export knows what it was.

/**
 * What the two bytes of a letter in UTF-8 look like in Windows-1252, and the marks that three bytes begin with; in Mac Roman;
 * and the character that replaces what could not be decoded. `Ä` and `Å` count only before control characters and signs.
 */
const suspicious =
  /[ÂÃ][\u0080-\u00bf€‚ƒ„†‡ˆ‰Š‹ŒŽ‘’“•–—˜™š›œžŸ]|[ÄÅ][\u0080-\u009f‚ƒ„†‡ˆ‰ŠŒŽ‹™š›œžŸ¡-¿]|â(?:€|„¢|‚¬)|ï»¿|[√ƒ≈][^\p{ASCII}\s]|‚(?:Ä[^\p{ASCII}\s]|Ç¨)|\ufffd/u;
/** The same, as JSON may write it. */
const suspiciousEscape = /\\u00[cC][2-5]\\u00[89abAB]|\\u00[eE]2\\u20[aA][cC]|\\u[fF]{3}[dD]/;

/** Whether some text was decoded wrongly. A quick test, for all rows. */
export function looksMisread(text: string): boolean {
  return suspicious.test(text);
}

/** As `looksMisread`, for the text of a JSON value. */
export function mayHoldMisread(json: string): boolean {
  return suspicious.test(json) || suspiciousEscape.test(json);
}

/** The warning about a value that `looksMisread`. Codes: `textMisread`, `characterLost`. The message holds no value. */
export function misreadWarning(text: string, line: number, field: string): Problem {
  const about = { line, field, value: shownValue(text) };
  const where = `line ${line}, ${shownValue(field)}`;
  if (text.includes('\ufffd')) {
    return {
      ...about,
      code: 'characterLost',
      message: `${where}: letters were lost before the text came here, and "\ufffd" is in their place`,
      hint: 'Make the export again, as UTF-8. Correct these values where they come from, if they are wrong there.',
    };
  }
  const meant = repaired(text);
  const probably = meant === null ? '' : ` Probably it should be "${shownValue(meant)}".`;
  return {
    ...about,
    code: 'textMisread',
    message: `${where}: the text was decoded wrongly before it came here`,
    hint: `Make the export again and open it in no other program, or choose UTF-8 there.${probably}`,
  };
}

/** What the text was before a program took its UTF-8 for another encoding; null where it is not clear. */
function repaired(text: string): string | null {
  for (const label of ['windows-1252', 'macintosh']) {
    const bytes = bytesIn(text, label);
    if (bytes === null) continue;
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      // Not UTF-8 in this encoding: the next one may be.
    }
  }
  return null;
}

/** The bytes of the text in an encoding with one byte for each character; null where it holds other characters. */
export function bytesIn(text: string, label: string): Uint8Array | null {
  const all = new TextDecoder(label).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  const bytes = [...text].map((char) => all.indexOf(char));
  return bytes.includes(-1) ? null : Uint8Array.from(bytes);
}
