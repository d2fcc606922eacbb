/**
 * Text in an encoding of East Asia, in which two bytes are a character: Shift_JIS and EUC-JP for Japanese, GB18030 and Big5 for
 * Chinese, EUC-KR for Korean. Read as Windows-1252 it would become contacts with names of signs, and which of these it is shows only
 * by what its characters are: each byte pair is one in several of them. So it is recognised, and a person says which one it is.
 *
 * It is that where all lines are valid, where nearly all letters beyond ASCII are of the scripts of that encoding, and most of them
 * are among those that its standard holds to be common.
 */
import { isAscii } from 'node:buffer';

/** Of those that fit equally well, the first is the likeliest: all of Korean is also usual Chinese, but hardly the other way round. */
const labels = ['shift_jis', 'euc-kr', 'euc-jp', 'gb18030', 'big5'] as const;
export type DoubleByteLabel = (typeof labels)[number];

/** Letters of the script that prove something: fewer may be chance. */
const lettersMin = 4;
const ofScriptMin = 0.95;
const scoreMin = 0.55;
/** Others with nearly the same score are named, too. */
const scoreDistanceMin = 0.12;

/**
 * @param lines whole lines of a file that hold bytes beyond ASCII.
 * @returns the encodings that fit, the best first; none where it is other text.
 */
export function doubleByteEncodings(lines: readonly Uint8Array[]): readonly DoubleByteLabel[] {
  const scored = labels
    .map((label) => ({ label, score: scoreOf(lines, label) }))
    .filter(({ score }) => score >= scoreMin)
    .sort((left, right) => right.score - left.score);
  const best = scored[0]?.score ?? 0;
  return scored.filter(({ score }) => best - score < scoreDistanceMin).map(({ label }) => label);
}

/** From 0 to 1: how much of the text is usual in that encoding; 0 where it is not valid, or mostly of other scripts. */
function scoreOf(lines: readonly Uint8Array[], label: DoubleByteLabel): number {
  const { script, isCommon } = encodings[label];
  const decoder = new TextDecoder(label, { fatal: true });
  let [letters, ofScript, common] = [0, 0, 0];
  for (const line of lines) {
    for (let at = 0; at < line.length; ) {
      const first = line[at] ?? 0;
      const length = first < 0x80 ? 1 : lengthOf(label, first, line[at + 1] ?? 0);
      const unit = line.subarray(at, at + length);
      at += length;
      if (first < 0x80) continue;
      const char = decoded(decoder, unit);
      if (char === null && at >= line.length && line.length >= lineBytesMax) break;
      if (char === null) return 0;
      if (!/[\p{L}\p{Co}]/u.test(char)) continue;
      letters += 1;
      if (!script.test(char)) continue;
      ofScript += 1;
      if (length === 1) common += 0.5;
      else if (kanaOrHangul.test(char) || isCommon(first, unit[1] ?? 0)) common += 1;
    }
  }
  if (ofScript < lettersMin || ofScript < letters * ofScriptMin) return 0;
  return common / letters;
}

const kanaOrHangul = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;

interface Encoding {
  readonly script: RegExp;
  /** Whether an ideograph is of the first level of its standard, by its two bytes. */
  readonly isCommon: (first: number, second: number) => boolean;
}

const japanese = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ーｰﾞﾟ]/u;
const chinese = /\p{Script=Han}/u;

/** As a sentence names them: `Japanese text in Shift_JIS`. */
export const doubleByteWords: Readonly<Record<DoubleByteLabel, string>> = {
  shift_jis: 'Japanese text in Shift_JIS',
  'euc-jp': 'Japanese text in EUC-JP',
  gb18030: 'Chinese text in GB18030 (GBK)',
  big5: 'Chinese text in Big5',
  'euc-kr': 'Korean text in EUC-KR',
};

const encodings: Readonly<Record<DoubleByteLabel, Encoding>> = {
  shift_jis: { script: japanese, isCommon: (first) => first >= 0x88 && first <= 0x98 },
  'euc-jp': { script: japanese, isCommon: (first) => first >= 0xb0 && first <= 0xcf },
  gb18030: { script: chinese, isCommon: (first, second) => first >= 0xb0 && first <= 0xd7 && second >= 0xa1 },
  big5: { script: chinese, isCommon: (first) => first >= 0xa4 && first <= 0xc6 },
  'euc-kr': { script: /[\p{Script=Hangul}\p{Script=Han}]/u, isCommon: () => false },
};

/** Of the character that a byte beyond ASCII begins. */
function lengthOf(label: DoubleByteLabel, first: number, second: number): number {
  if (label === 'shift_jis') return first >= 0xa0 && first <= 0xdf ? 1 : 2;
  if (label === 'euc-jp') return first === 0x8f ? 3 : 2;
  return label === 'gb18030' && second >= 0x30 && second <= 0x39 ? 4 : 2;
}

function decoded(decoder: InstanceType<typeof TextDecoder>, unit: Uint8Array): string | null {
  try {
    return decoder.decode(unit);
  } catch {
    return null;
  }
}

/** A longer line is cut, perhaps inside a character. */
const lineBytesMax = 4_096;
const linesBytesMax = 64 * 1024;

export interface LineCollector {
  /** @returns whether there are enough. */
  add(bytes: Uint8Array): boolean;
  /** After the last byte. */
  lines(): readonly Uint8Array[];
}

/** Takes the bytes of a file in order, and collects its first lines with bytes beyond ASCII, of a long one its beginning. */
export function createLineCollector(): LineCollector {
  const lines: Uint8Array[] = [];
  let bytesKept = 0;
  let open: Uint8Array[] = [];
  const close = (): void => {
    const line = Buffer.concat(open).subarray(0, lineBytesMax);
    open = [];
    if (line.every((byte) => byte < 0x80)) return;
    lines.push(line);
    bytesKept += line.length;
  };
  /** Of a line that is too long already, its length is all that counts. */
  const keep = (bytes: Uint8Array): void => {
    if (open.reduce((sum, { length }) => sum + length, 0) < lineBytesMax)
      open.push(Uint8Array.from(bytes.subarray(0, lineBytesMax)));
  };
  return {
    add: (bytes) => {
      // Lines of ASCII, which most files have the most of, are passed at once.
      const last = isAscii(bytes) ? bytes.lastIndexOf(0x0a) : -1;
      let start = 0;
      if (last >= 0) {
        keep(bytes.subarray(0, bytes.indexOf(0x0a)));
        close();
        start = last + 1;
      }
      for (let at = start; at < bytes.length && bytesKept < linesBytesMax; at++) {
        const byte = bytes[at];
        // No character of these encodings holds one of them.
        if (byte !== 0x0a && byte !== 0x0d) continue;
        keep(bytes.subarray(start, at));
        close();
        start = at + 1;
      }
      if (bytesKept < linesBytesMax) keep(bytes.subarray(start));
      return bytesKept >= linesBytesMax;
    },
    lines: () => {
      close();
      return lines;
    },
  };
}
