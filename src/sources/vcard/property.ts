/**
 * A content line to a property: group, name, parameters and value, in the notations of vCard 2.1, 3.0 and 4.0
 * (RFC 2426, RFC 6350). 2.1 writes parameters bare (`TEL;CELL;PREF`) and text in quoted-printable with a CHARSET; 3.0 writes
 * `TYPE=CELL,VOICE`; 4.0 writes `TYPE="cell,voice"` and `PREF=1`. Programs mix them, so all are read in all versions.
 */
import { bytesIn } from '#src/sources/code-page.ts';
import { base64Encoding, type ContentLine, quotedPrintableLabel } from './content-lines.ts';

export type VcardVersion = '2.1' | '3.0' | '4.0';

export interface Property {
  /** `item1` of `item1.TEL`, in lower case; null without one. */
  readonly group: string | null;
  /** In upper case. */
  readonly name: string;
  /** In lower case: `cell`, `work`, `pref`… */
  readonly types: ReadonlySet<string>;
  /** 1 is preferred most, 101 is what has no preference. */
  readonly preference: number;
  /** The label of its owner's choice among the parameters; null without one. */
  readonly ownLabel: string | null;
  /** Unfolded and decoded; still with its backslashes. */
  readonly value: string;
  readonly line: number;
  /** The CHARSET whose bytes the value does not hold, or that is not known; else null. */
  readonly wrongCharset: string | null;
  /** It says that it is in base64, and is not; the value is as it was written. */
  readonly isBadBase64: boolean;
}

const head = /^[ \t]*(?:([\w-]+)\.)?([A-Za-z][\w-]*)[ \t]*(?=[;:])/;
/** Bare words of 2.1 that say how a value is written, not what it is. */
const encodingWords: ReadonlySet<string> = new Set(['quoted-printable', 'base64', 'b', '7bit', '8bit']);
const noPreference = 101;

/** Null where the line is no property: it has no name, or no colon. @param encoding in which the file was decoded. */
export function readProperty({ parts, line }: ContentLine, version: VcardVersion, encoding: string): Property | null {
  const first = parts[0] ?? '';
  const isQuotedPrintable = /^[^:]*;(?:ENCODING=)?"?QUOTED-PRINTABLE"?[;:]/i.test(first);
  const isBase64 = base64Encoding.test(first);
  const isJoined = isQuotedPrintable || quotedPrintableLabel.test(first);
  const lines = isBase64 ? parts.map((part) => part.trim()).join('') : null;
  const text = lines ?? (isJoined ? withoutSoftBreaks(parts) : unfolded(parts, version));
  const named = head.exec(text);
  if (named === null) return null;
  const colon = colonOf(text, named[0].length);
  if (colon < 0) return null;
  const parameters = parametersOf(text.slice(named[0].length, colon));
  const raw = text.slice(colon + 1);
  const decoded = isBase64
    ? decodeBase64(raw, parameters.charset)
    : decode(raw, parameters, isQuotedPrintable, encoding);
  return {
    group: named[1]?.toLowerCase() ?? null,
    name: (named[2] ?? '').toUpperCase(),
    types: parameters.types,
    preference: parameters.preference,
    ownLabel: parameters.ownLabel,
    ...(decoded ?? { value: raw, wrongCharset: null }),
    isBadBase64: decoded === null,
    line,
  };
}

/** 2.1 folds where a space is and keeps it; later versions fold anywhere, with a space of their own. */
function unfolded([first = '', ...others]: readonly string[], version: VcardVersion): string {
  return first + others.map((part) => (version === '2.1' ? part : part.slice(1))).join('');
}

function withoutSoftBreaks(parts: readonly string[]): string {
  return parts
    .map((part, index) => (index < parts.length - 1 && part.endsWith('=') ? part.slice(0, -1) : part))
    .join('');
}

/** The colon before the value: the first outside quotes, or the first of all where a quote does not close. */
function colonOf(text: string, start: number): number {
  let isQuoted = false;
  for (let index = start; index < text.length; index++) {
    const char = text[index];
    if (char === '"') isQuoted = !isQuoted;
    else if (char === ':' && !isQuoted) return index;
  }
  return text.indexOf(':', start);
}

interface Parameters {
  readonly types: ReadonlySet<string>;
  readonly preference: number;
  readonly charset: string | null;
  readonly ownLabel: string | null;
}

const noParameters: Parameters = { types: new Set(), preference: noPreference, charset: null, ownLabel: null };

/** @param text `;NAME=value;NAME="a,b";BARE` */
function parametersOf(text: string): Parameters {
  if (text === '') return noParameters;
  const types = new Set<string>();
  let preference = noPreference;
  let charset: string | null = null;
  let ownLabel: string | null = null;
  for (const parameter of text.match(/;(?:"[^"]*"|[^;"])*/g) ?? []) {
    const [, name, rest = ''] = /^;\s*(?:([\w-]+)\s*=)?(.*)$/s.exec(parameter) ?? [];
    const value = rest.replaceAll('"', '').trim().toLowerCase();
    const kind = name?.toUpperCase();
    const custom = kind === undefined || kind === 'TYPE' ? customType.exec(rest)?.groups : undefined;
    if (custom !== undefined) ownLabel = customLabel(custom);
    else if (kind === 'CHARSET') charset = value;
    else if (kind === 'PREF') preference = Math.min(preference, preferenceOf(value));
    else if (kind === 'TYPE' || (kind === undefined && !encodingWords.has(value))) {
      for (const type of value.split(',')) if (type.trim() !== '') types.add(type.trim());
    }
  }
  return { types, preference: types.has('pref') ? 1 : preference, charset, ownLabel };
}

/** `X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,Fax=20=C3=A9cole)`, as Android writes a label of its owner's. */
const customType = /^"?X-CUSTOM\((?<notation>(?:(?:CHARSET|ENCODING)=[^,]*,)*)(?<label>.*)\)"?\s*$/is;

function customLabel({ notation = '', label = '' }: Readonly<Record<string, string>>): string | null {
  const charset = /CHARSET=([^,]*)/i.exec(notation)?.[1] ?? null;
  const text = /QUOTED-PRINTABLE/i.test(notation) ? decodeQuotedPrintable(label, charset).value : label;
  return text.trim() || null;
}

function preferenceOf(value: string): number {
  const number = Number(value);
  return Number.isInteger(number) && number >= 1 && number <= 100 ? number : noPreference;
}

type Decoded = Pick<Property, 'value' | 'wrongCharset'>;

function decode(raw: string, { charset }: Parameters, isQuotedPrintable: boolean, encoding: string): Decoded {
  if (isQuotedPrintable) return decodeQuotedPrintable(raw, charset);
  const isUnicode = encoding.startsWith('utf-');
  const bytes = charset === null || isUnicode || /^[\x00-\x7f]*$/.test(raw) ? null : bytesIn(raw, encoding);
  return bytes === null ? { value: raw, wrongCharset: null } : decodeRuns([bytes], charset);
}

/** Null where it is no base64. */
function decodeBase64(raw: string, charset: string | null): Decoded | null {
  const text = raw.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1) return null;
  const { value, wrongCharset } = decodeRuns([Buffer.from(text, 'base64')], charset);
  return { value: value.replace(/\r\n?/g, '\n'), wrongCharset };
}

/** Characters that stand for bytes are decoded together; others remain. */
function decodeQuotedPrintable(raw: string, charset: string | null): Decoded {
  if (!raw.includes('=')) return { value: raw, wrongCharset: null };
  const { value, wrongCharset } = decodeRuns(quotedBytes(raw), charset);
  return { value: value.replace(/\r\n?/g, '\n'), wrongCharset };
}

function* quotedBytes(raw: string): Generator<Uint8Array | string> {
  // In some charsets, a byte of a character may be one of ASCII: all of ASCII is decoded with the rest.
  for (const [run] of raw.matchAll(/[\x00-\x7f]+|[^\x00-\x7f]+/g)) {
    if (run.charCodeAt(0) > 0x7f) yield run;
    else
      yield Buffer.from(
        run.replace(/=([\dA-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
        'latin1',
      );
  }
}

/** @param runs bytes, and text that needs no decoding. */
function decodeRuns(runs: Iterable<Uint8Array | string>, charset: string | null): Decoded {
  const decodeCharset = charset === null ? decodeUnnamed : decoderOf(charset);
  let isWrong = false;
  let value = '';
  for (const run of runs) {
    const decoded = typeof run === 'string' ? run : decodeCharset(run);
    isWrong ||= decoded === null;
    value += decoded ?? decodeUnnamed(run as Uint8Array);
  }
  return { value, wrongCharset: isWrong ? charset : null };
}

/** Null where the bytes are not in the charset. */
type Decode = (bytes: Uint8Array) => string | null;

function decoderOf(charset: string): Decode {
  try {
    const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: true });
    return (bytes) => {
      try {
        return decoder.decode(bytes);
      } catch {
        return null;
      }
    };
  } catch {
    return () => null;
  }
}

const decodeUtf8 = decoderOf('utf-8');
const windows1252 = new TextDecoder('windows-1252');

/** Without a charset: UTF-8 where it is that, else Windows-1252, as for a file. */
function decodeUnnamed(bytes: Uint8Array): string {
  return decodeUtf8(bytes) ?? windows1252.decode(bytes);
}

/** 2.1 knows no `\n`: a backslash there may be one of a path. */
export function unescaped(text: string, version: VcardVersion): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([\\,;:nN])/g, (written, char: string) =>
    char === 'n' || char === 'N' ? (version === '2.1' ? written : '\n') : char,
  );
}

/** Cuts at each separator that no backslash precedes; trims the pieces and resolves their escapes. */
export function pieces(text: string, separator: ';' | ',', version: VcardVersion): readonly string[] {
  return writtenPieces(text, separator).map((piece) => unescaped(piece, version).trim());
}

/**
 * The parts of a name. In 3.0 and 4.0 each may hold several, parted by commas: `Philip,Paul` is two names, `Philip\\, Paul` is one. 2.1
 * knows no such lists: a comma is part of the name.
 */
export function nameParts(text: string, version: VcardVersion): readonly string[] {
  if (version === '2.1') return pieces(text, ';', version);
  return writtenPieces(text, ';').map((part) =>
    pieces(part, ',', version)
      .filter((piece) => piece !== '')
      .join(' '),
  );
}

/** Cuts at each separator that no backslash precedes. The pieces keep their backslashes. */
function writtenPieces(text: string, separator: ';' | ','): readonly string[] {
  const found: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === separator) {
      found.push(text.slice(start, index));
      start = index + 1;
    }
  }
  found.push(text.slice(start));
  return found;
}
