/**
 * vCards (`.vcf`, versions 2.1, 3.0 and 4.0) to rows: content lines to cards, and each card to one object.
 *
 * Our own reader, since those that exist read a whole text at once, and none reads 2.1 well, which phones and Outlook write.
 * A card that another one follows before its end is a broken row; one that the end of the file cuts off refuses the file,
 * because people behind it are missing. Groups, and text outside cards, are left out with a warning.
 *
 * Invariant: at most one chunk of text, the rows it completed and one unfinished card without its photos are in memory.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { fileError, type PatchbayError } from '#src/errors.ts';
import { looksMisread, misreadWarning } from '#src/sources/code-page.ts';
import {
  createTally,
  type FormatReader,
  itemsPerSliceMax,
  type SourceLimits,
  type Tally,
} from '#src/sources/format-reader.ts';
import { textRow } from '#src/sources/json-item.ts';
import { cellProblem, type SourceItem, type SourceTail, shownValue } from '#src/sources/row.ts';
import { readCard } from './card.ts';
import { type ContentLine, createContentLines } from './content-lines.ts';
import { type Property, readProperty, type VcardVersion } from './property.ts';

/** Whether the text begins as a vCard does. */
export function looksLikeVcf(text: string): boolean {
  return /^\ufeff?\s*BEGIN:VCARD[ \t]*[\r\n]/i.test(text);
}

/** Its iterator throws PatchbayError `file` `cardNeverEnds`, `noCards`, `cardTooDeep`, `recordTooLong`, `tooManyRows`. */
export function readVcf(text: AsyncGenerator<string>, options: VcfOptions): FormatReader {
  const tally = createTally(options.name, options.limits.rowsMax);
  const lines = createContentLines(options.name, options.limits.recordBytesMax);
  const cards = createCards(options, tally);
  const slices = async function* (): AsyncGenerator<readonly SourceItem[]> {
    let slice: SourceItem[] = [];
    const take = function* (some: Iterable<ContentLine>): Generator<readonly SourceItem[]> {
      for (const line of some) {
        slice.push(...cards.take(line));
        if (slice.length < itemsPerSliceMax) continue;
        yield slice;
        slice = [];
      }
    };
    for await (const chunk of text) {
      yield* take(lines.push(chunk));
      if (slice.length > 0) yield slice;
      slice = [];
    }
    yield* take(lines.end());
    cards.end();
    if (slice.length > 0) yield slice;
  };
  return { head: { format: 'vcf', columns: null, delimiter: null }, slices, tail: () => cards.tail() };
}

interface VcfOptions {
  /** The user's name of the file. */
  readonly name: string;
  /** In which the file was decoded: text of 2.1 may name another one. */
  readonly encoding: string;
  readonly limits: SourceLimits;
  /** The file's name says something else. */
  readonly isByContent: boolean;
}

/** Cards inside each other, as the AGENT of 2.1 is. */
const depthMax = 32;

interface OpenCard {
  readonly line: number;
  readonly lines: ContentLine[];
  bytes: number;
  /** How many cards inside it are open. */
  depth: number;
}

interface Cards {
  /** Returns what the content line completes. @throws PatchbayError `file` `cardTooDeep`, `recordTooLong`, `tooManyRows`. */
  take(line: ContentLine): readonly SourceItem[];
  /** The file has ended. @throws PatchbayError `file` `cardNeverEnds`, `noCards`. */
  end(): void;
  tail(): SourceTail;
}

function createCards({ name, encoding, limits, isByContent }: VcfOptions, tally: Tally): Cards {
  let card: OpenCard | null = null;
  /** The first line of text outside cards, until it is clear what it is. */
  let outside: ContentLine | null = null;
  let cardCount = 0;
  const skippedByName = new Map<string, number>();

  const open = (line: number): void => {
    card = { line, lines: [], bytes: 0, depth: 0 };
    cardCount += 1;
  };

  const leaveOutside = (): void => {
    if (outside !== null) tally.warn(textOutside(outside));
    outside = null;
  };

  const takeOutside = (line: ContentLine): readonly SourceItem[] => {
    if (isBegin(line)) {
      leaveOutside();
      open(line.line);
    } else if (isEnd(line)) {
      const first = outside ?? line;
      outside = null;
      const row = textRow(shownValue(textOfLine(first)), first.line, tally.nextRecord(first.line));
      cardCount += 1;
      return [{ type: 'broken', row, problem: neverBegins(first) }];
    } else {
      outside ??= line;
    }
    return [];
  };

  const takeInside = (line: ContentLine, current: OpenCard): readonly SourceItem[] => {
    if (isBegin(line)) {
      if (current.depth === 0 && !isAgent(current.lines.at(-1))) {
        const items = finish(current, neverEnds(current.line));
        open(line.line);
        return items;
      }
      current.depth += 1;
      if (current.depth > depthMax) throw tooDeep(name, line.line);
    } else if (isEnd(line)) {
      if (current.depth > 0) {
        current.depth -= 1;
        return [];
      }
      card = null;
      return finish(current, null);
    } else if (current.depth === 0) {
      for (const part of line.parts) current.bytes += Buffer.byteLength(part);
      if (current.bytes > limits.recordBytesMax) throw tooLong(name, current.line, limits.recordBytesMax);
      current.lines.push(line);
    }
    return [];
  };

  const finish = ({ line, lines }: OpenCard, problem: Problem | null): readonly SourceItem[] => {
    const version = versionOf(lines);
    const properties = lines.flatMap((one) => readLine(one, version) ?? []);
    const { object, isGroup } = readCard(properties, version);
    if (isGroup) {
      tally.warn(groupLeftOut(line, object.FN));
      return [];
    }
    const row = { kind: 'object', line, record: tally.nextRecord(line), object } as const;
    const found = problem ?? firstProblem(properties, limits.cellBytesMax);
    return [found === null ? { type: 'row', row } : { type: 'broken', row, problem: found }];
  };

  const readLine = (line: ContentLine, version: VcardVersion): Property | null => {
    if (line.isSkipped) {
      countSkipped(line);
      return null;
    }
    const property = readProperty(line, version, encoding);
    if (property === null) {
      tally.warn(lineIgnored(line));
      return null;
    }
    if (property.wrongCharset !== null) tally.warn(charsetWrong(property));
    if (looksMisread(property.value)) tally.warnOnce(misreadWarning(property.value, property.line, property.name));
    return property;
  };

  const countSkipped = (line: ContentLine): void => {
    const [, property = ''] = /^(?:[\w-]+\.)?([\w-]+)/.exec(textOfLine(line)) ?? [];
    const known = property.toUpperCase();
    if (skippedByName.size < skippedNamesMax || skippedByName.has(known))
      skippedByName.set(known, (skippedByName.get(known) ?? 0) + 1);
  };

  return {
    take: (line) => apart(line).flatMap((one) => (card === null ? takeOutside(one) : takeInside(one, card))),
    end: () => {
      if (card !== null) throw cutOff(name, card.line);
      if (outside !== null && isBeginning(textOfLine(outside))) throw cutOff(name, outside.line);
      if (cardCount === 0 && outside !== null) throw noCards(name, outside);
      leaveOutside();
    },
    tail: () => {
      const tail = tally.tail();
      const skipped = skippedByName.size === 0 ? [] : [skippedNote(skippedByName)];
      const byContent = isByContent ? [readAsVcf(name)] : [];
      const empty = tail.recordCount === 0 ? [emptyNote(name, cardCount === 0)] : [];
      return { ...tail, warnings: [...byContent, ...tail.warnings, ...skipped, ...empty] };
    },
  };
}

const skippedNamesMax = 20;

function isBegin(line: ContentLine): boolean {
  return /^\ufeff?BEGIN:VCARD$/i.test(textOfLine(line));
}

function isEnd(line: ContentLine): boolean {
  return /^END:VCARD$/i.test(textOfLine(line));
}

/** Where files without a line end behind their last line were joined. */
function apart(line: ContentLine): readonly ContentLine[] {
  const [, end, begin] = /^(END:VCARD)\s*(BEGIN:VCARD)$/i.exec(textOfLine(line)) ?? [];
  return end === undefined || begin === undefined ? [line] : [end, begin].map((text) => ({ ...line, parts: [text] }));
}

function isAgent(line: ContentLine | undefined): boolean {
  return line !== undefined && /^AGENT[;:]/i.test(textOfLine(line));
}

/** What remains of a file that was cut off in the first line of a card. */
function isBeginning(text: string): boolean {
  return 'BEGIN:VCARD'.startsWith(text.toUpperCase());
}

function textOfLine({ parts }: ContentLine): string {
  return (parts[0] ?? '').trim();
}

/** 3.0, the most common one, where the card does not say. */
function versionOf(lines: readonly ContentLine[]): VcardVersion {
  const named = lines
    .map((line) => /^VERSION:\s*([\d.]+)$/i.exec(textOfLine(line))?.[1])
    .find((one) => one !== undefined);
  return named === '2.1' || named === '4.0' ? named : '3.0';
}

function firstProblem(properties: readonly Property[], cellBytesMax: number): Problem | null {
  for (const { value, line, name, isBadBase64 } of properties) {
    const problem = cellProblem(value, line, name, cellBytesMax) ?? (isBadBase64 ? badBase64(value, line, name) : null);
    if (problem !== null) return problem;
  }
  return null;
}

function badBase64(value: string, line: number, field: string): Problem {
  const message = `the value of ${field} is said to be in base64, and is not`;
  const hint = 'Write it as text, without ENCODING, or export the file again.';
  return { code: 'base64Invalid', line, field, value: shownValue(value), message, hint };
}

function neverEnds(line: number): Problem {
  const message = 'the next card begins before this one has ended';
  const hint = 'Add the line END:VCARD before the next BEGIN:VCARD, or export the file again.';
  return { code: 'cardNeverEnds', line, field: null, value: null, message, hint };
}

function neverBegins(first: ContentLine): Problem {
  const message = 'a card ends that never began';
  const hint = 'Add the line BEGIN:VCARD before its first line, or export the file again.';
  return {
    code: 'cardNeverBegins',
    line: first.line,
    field: null,
    value: shownValue(textOfLine(first)),
    message,
    hint,
  };
}

function textOutside(first: ContentLine): Problem {
  const message = `the text from line ${first.line} on is left out: it stands outside the cards`;
  const hint = 'Nothing to do if it is no contact.';
  return {
    code: 'textOutsideCards',
    line: first.line,
    field: null,
    value: shownValue(textOfLine(first)),
    message,
    hint,
  };
}

function lineIgnored(line: ContentLine): Problem {
  const message = `line ${line.line} is left out: it has no name and colon as a property of a card has`;
  const hint = 'Nothing to do if it belongs to a note. A longer text continues on lines that begin with a space.';
  return { code: 'lineIgnored', line: line.line, field: null, value: shownValue(textOfLine(line)), message, hint };
}

function charsetWrong({ line, name, value, wrongCharset }: Property): Problem {
  const message = `the value of ${name} is not in the CHARSET that it names (${shownValue(wrongCharset ?? '')})`;
  const hint = 'Look whether its letters are right.';
  return { code: 'charsetWrong', line, field: name, value: shownValue(value), message, hint };
}

function groupLeftOut(line: number, name: unknown): Problem {
  const shown = typeof name === 'string' ? ` "${shownValue(name)}"` : '';
  const message = `the group${shown} (line ${line}) is left out: it is a list of contacts`;
  return {
    code: 'groupLeftOut',
    line,
    field: null,
    value: null,
    message,
    hint: 'Nothing to do: its contacts are read.',
  };
}

function readAsVcf(name: string): Problem {
  const message = `${name} holds vCards and was read as .vcf`;
  return { code: 'readAsVcf', line: 1, field: null, value: null, message, hint: 'Give its name the ending .vcf.' };
}

function skippedNote(countByName: ReadonlyMap<string, number>): Problem {
  const counts = [...countByName].map(([name, count]) => `${count} ${name}`).join(', ');
  const message = `left out, because contacts here have no such data: ${counts}`;
  return { code: 'mediaLeftOut', line: 1, field: null, value: null, message, hint: 'Nothing to do.' };
}

function emptyNote(name: string, isEmpty: boolean): Problem {
  const message = isEmpty ? `${name} is empty` : `${name} holds no contacts`;
  const hint = 'Check the export if contacts were expected.';
  return { code: isEmpty ? 'emptyFile' : 'noRows', line: 1, field: null, value: null, message, hint };
}

function cutOff(name: string, line: number): PatchbayError {
  const message = `${name}, line ${line}: the card that begins here does not end: the file is cut off`;
  return fileError('cardNeverEnds', message, { file: name, line }, 'Export the file again.');
}

function noCards(name: string, first: ContentLine): PatchbayError {
  const found = shownValue(textOfLine(first));
  const message = `${name} holds no vCard: no line says BEGIN:VCARD, and line ${first.line} says ${JSON.stringify(found)}`;
  return fileError('noCards', message, { file: name, line: first.line }, 'Give the file the ending of its format.');
}

function tooDeep(name: string, line: number): PatchbayError {
  const message = `${name}, line ${line}: cards inside each other more than ${depthMax} deep`;
  return fileError('cardTooDeep', message, { file: name, line, depthMax }, 'Export the file again.');
}

function tooLong(name: string, line: number, recordBytesMax: number): PatchbayError {
  const message = `${name}, line ${line}: the card is longer than ${recordBytesMax} bytes`;
  const hint = 'Leave long texts out of the export.';
  return fileError('recordTooLong', message, { file: name, line, recordBytesMax }, hint);
}
