/**
 * Which delimiter a CSV file uses: the one under which its lines make the most regular table, quotes respected. Where
 * names are known that must stand in the header, only delimiters count under which one of them does.
 */
import { PatchbayError } from '#src/errors.ts';
import { headerLineMax, holdsRequired } from '#src/sources/csv-header.ts';
import { parseRecords } from '#src/sources/csv-parser.ts';
import { type CsvRecord, createCsvSplitter } from '#src/sources/csv-splitter.ts';

/** Those that are found without being told, in order of preference where two fit equally well. */
export const detectedDelimiters: readonly string[] = [',', ';', '\t', '|'];
const recordsLookedAtMax = 200;
/** Small pieces, so that the records before a broken one are known. */
const pieceChars = 512;

export interface DelimiterQuestion {
  /** The beginning of the file, without a `sep=` line. */
  readonly head: string;
  /** Whether `head` is the whole file: its last line is then complete. */
  readonly whole: boolean;
  /** Normalised names, one of which must stand in the header; empty where anything may. */
  readonly required: ReadonlySet<string>;
}

/** Always gives one; a comma where nothing can be told. */
export function detectDelimiter(question: DelimiterQuestion): string {
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of detectedDelimiters) {
    const score = regularity(tableUnder(delimiter, question), question.required);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

interface TableLine {
  readonly line: number;
  readonly cells: readonly string[];
}

function tableUnder(delimiter: string, question: DelimiterQuestion): TableLine[] {
  const records = recordsUnder(delimiter, question).filter((record) => record.text.trim() !== '');
  const looked = records.slice(0, recordsLookedAtMax);
  return parseRecords(looked, delimiter).map((cells, index) => ({ line: looked[index]?.line ?? 0, cells }));
}

/** Where the quotes do not close, the records before that; the reading proper says what is wrong. */
function recordsUnder(delimiter: string, { head, whole }: DelimiterQuestion): CsvRecord[] {
  const splitter = createCsvSplitter({ name: '', delimiter, recordBytesMax: head.length * 3 + 1 });
  const records: CsvRecord[] = [];
  try {
    for (let start = 0; start < head.length && records.length < recordsLookedAtMax; start += pieceChars) {
      records.push(...splitter.push(head.slice(start, start + pieceChars)));
    }
    if (whole && records.length < recordsLookedAtMax) records.push(...splitter.end());
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
  }
  return records;
}

/** The share of lines that have the commonest number of cells; a known header counts far more than any share. */
function regularity(table: readonly TableLine[], required: ReadonlySet<string>): number {
  const header = table.find(({ line, cells }) => line <= headerLineMax && holdsRequired(cells, required));
  const known = header === undefined ? 0 : 10 + Math.min(header.cells.length, 500) / 100;
  const countByWidth = new Map<number, number>();
  for (const { cells } of table) {
    if (cells.length > 1) countByWidth.set(cells.length, (countByWidth.get(cells.length) ?? 0) + 1);
  }
  const [width, count] = [...countByWidth].reduce((most, next) => (next[1] > most[1] ? next : most), [0, 0]);
  if (table.length === 0 || count === 0) return known;
  // Where the first line is cut otherwise than most, the delimiter is rather one of the text inside the cells.
  const firstFits = header === undefined && table[0]?.cells.length !== width ? 0.5 : 1;
  return known + (count / table.length) * firstFits + Math.min(width, 500) / 100_000;
}
