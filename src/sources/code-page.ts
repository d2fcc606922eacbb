/**
 * Text in another encoding than UTF-8: which code page it is in, Windows-1252, which most of it is, or another one; and text that
 * was decoded wrongly before it came here, which can only be warned about.
 *
 * Each byte beyond ASCII is a letter in one code page and a sign or another letter in the next. In the right one, letters are those of
 * one language and stand where they do in it; in a wrong one, words hold signs or letters of several languages ("Zo‘", "Dvoøák").
 * So what the words of the file cost is counted under each code page (`languages.ts`). Mac Roman is chosen where it clearly fits and
 * Windows-1252 clearly does not; in all other cases Windows-1252 is, and where a word looks wrong the warning names it, with what
 * another code page would make of it.
 */
import { isUtf8 } from 'node:buffer';
import type { Problem } from '#src/contacts/outcome.ts';
import { quotedCell } from '#src/contacts/quoted-cell.ts';
import { type CodePageLabel, codePages, costsOf } from './languages.ts';
import { shownValue } from './row.ts';

/** A word with bytes beyond ASCII, and the byte before and behind it. */
interface ForeignWord {
  /** The physical line that it begins on. */
  readonly line: number;
  readonly bytes: Uint8Array;
}

export interface CodePage {
  /** Whether one of the code pages that are known here fits. Where none does, two bytes may be a character. */
  readonly isKnown: boolean;
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

/** Of a character beyond ASCII, on average, in text that is clearly in Mac Roman, and what it costs at least in Windows-1252. */
const macMeanMax = 3.5;
const windowsMeanMin = 4.5;
/** One odd sign in a file proves nothing: several words cost that much more. */
const oddWordsMin = 2;
const oddCostMin = 4;
const impossibleCostMin = 7;

/** Of a character beyond ASCII, on average, where its code page is known here. Text with two bytes for a character costs more. */
const knownMeanMax = 3;

/** Pure. */
export function chooseCodePage(words: readonly ForeignWord[]): CodePage {
  const readings = readingsOf(words);
  const [windows, mac] = readings as [Reading, Reading];
  const best = clearlyBest(readings);
  const isMac = best === mac && mac.mean <= macMeanMax && windows.mean >= windowsMeanMin && hasOddWords(windows, mac);
  const isKnown = readings.some(({ mean }) => mean <= knownMeanMax);
  if (isMac) return { isKnown, label: 'macintosh', doubt: null };
  return { isKnown, label: 'windows-1252', doubt: best === null ? null : doubtOf(windows, best) };
}

/** The words of a file under one code page. */
interface Reading {
  readonly label: CodePageLabel;
  readonly words: readonly { readonly line: number; readonly bytes: Uint8Array; readonly cost: number }[];
  readonly cost: number;
  /** For each byte beyond ASCII. */
  readonly mean: number;
}

/** A word in another language of the code page than most of the file. */
const strangerCost = 1;

/** Of all code pages, Windows-1252 and Mac Roman first. A word that comes again proves nothing more. */
function readingsOf(words: readonly ForeignWord[]): readonly Reading[] {
  const distinct = new Map<string, ForeignWord>();
  for (const word of words) {
    const text = Buffer.from(word.bytes).toString('latin1');
    if (!distinct.has(text)) distinct.set(text, word);
  }
  const all = [...distinct.values()];
  const byteCount = all.reduce((sum, { bytes }) => sum + foreignCount(bytes), 0);
  return codePages.map((label) => {
    const costs = wordCosts(all, label);
    const cost = costs.reduce((sum, one) => sum + one, 0);
    return {
      label,
      cost,
      mean: cost / Math.max(1, byteCount),
      words: all.map((word, index) => ({ ...word, cost: costs[index] ?? 0 })),
    };
  });
}

function foreignCount(bytes: Uint8Array): number {
  return bytes.filter((byte) => byte >= 0x80).length;
}

/** In the language in which the words cost least. Some words may be of another one. */
function wordCosts(words: readonly ForeignWord[], label: CodePageLabel): readonly number[] {
  const byWord = words.map(({ bytes }) =>
    costsOf(
      decode(bytes, label),
      Array.from(bytes, (byte) => byte >= 0x80),
      label,
    ),
  );
  const stranger = byWord.map((costs) => Math.min(...costs) + strangerCost);
  const byLanguage = (byWord[0] ?? []).map((_, language) =>
    byWord.map((costs, word) => Math.min(costs[language] ?? 0, stranger[word] ?? 0)),
  );
  const sum = (costs: readonly number[]): number => costs.reduce((total, one) => total + one, 0);
  return byLanguage.sort((left, right) => sum(left) - sum(right))[0] ?? [];
}

/** A code page that fits hardly worse makes it unclear which one is meant, if it makes other text of the words. */
const unclearDistance = 3;

/** The reading that fits best; null where it is not clear which one does. */
function clearlyBest(readings: readonly Reading[]): Reading | null {
  const [best, ...others] = [...readings].sort((left, right) => left.cost - right.cost);
  if (best === undefined) return null;
  const near = others.filter(({ cost }) => cost - best.cost <= unclearDistance);
  const differs = (other: Reading): boolean =>
    best.words.some(({ bytes }) => decode(bytes, other.label) !== decode(bytes, best.label));
  return near.some(differs) ? null : best;
}

/** Whether several words are far less usual in the one than in the other: with different signs, or where none of them can be. */
function hasOddWords(windows: Reading, mac: Reading): boolean {
  const distances = windows.words.map(({ bytes, cost }, index) => ({
    bytes,
    more: cost - (mac.words[index]?.cost ?? 0),
  }));
  const odd = distances.filter(({ more }) => more >= oddCostMin);
  const foreign = new Set(odd.flatMap(({ bytes }) => [...bytes].filter((byte) => byte >= 0x80)));
  const impossible = odd.filter(({ more }) => more >= impossibleCostMin);
  return Math.min(odd.length, foreign.size) >= oddWordsMin || impossible.length >= oddWordsMin;
}

/** How much less a file, and a word of it, cost where another code page is offered: one unusual letter may simply be unusual. */
const fileDistanceMin = 4;
const wordDistanceMin = 3;
/** Of a character beyond ASCII, on average, in the file and in the word, under the code page that is offered. */
const offeredMeanMax = 3.75;

/**
 * Another code page is offered only where it fits the whole file better, since one odd word may simply be odd, and only for a word that
 * is odd: nearly every sign is a letter in another code page ("5 €" is "5 Ä" in Mac Roman), and stands rightly where signs do.
 */
function doubtOf(windows: Reading, best: Reading): CodePage['doubt'] {
  if (best.mean > offeredMeanMax || windows.cost - best.cost < fileDistanceMin) return null;
  for (const [index, { line, bytes, cost }] of best.words.entries()) {
    if ((windows.words[index]?.cost ?? 0) - cost < wordDistanceMin) continue;
    if (cost > foreignCount(bytes) * offeredMeanMax) continue;
    const [word, meant] = [shownWord(bytes, windows.label), shownWord(bytes, best.label)];
    if (word !== meant) return { line, word, meant, label: best.label };
  }
  return null;
}

const tables = new Map<string, readonly string[]>();

/** One character for each byte. */
function decode(bytes: Uint8Array, label: CodePageLabel): string {
  let table = tables.get(label);
  if (table === undefined) {
    table = [...new TextDecoder(label).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))];
    tables.set(label, table);
  }
  let text = '';
  for (const byte of bytes) text += table[byte] ?? '';
  return text;
}

function shownWord(bytes: Uint8Array, label: CodePageLabel): string {
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
      hint: 'Export the file again, as UTF-8. Correct these values where they come from, if they are wrong there.',
    };
  }
  const meant = repaired(text);
  const probably = meant === null ? '' : ` Probably it should be ${quotedCell(meant)}.`;
  return {
    ...about,
    code: 'textMisread',
    message: `${where}: the text was decoded wrongly before it came here`,
    hint: `Export the file again and open it in no other program, or choose UTF-8 there.${probably}`,
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
