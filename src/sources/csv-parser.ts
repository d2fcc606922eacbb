/**
 * The one place that calls papaparse: cells of a bounded batch of complete records.
 *
 * Invariant: one array of cells per record, in order. Only papaparse's inner parser is used, with delimiter and line
 * end given: no guessing, no BOM handling, no renaming of headers, no streaming of its own (bad-inputs.md, "Parsers:
 * known traps").
 */
import Papa from 'papaparse';
import type { CsvRecord } from '#src/sources/csv-splitter.ts';

/** Splits each record into its cells. A record with stray text behind a quote is parsed alone, so that it disturbs no other. */
export function parseRecords(records: readonly CsvRecord[], delimiter: string): string[][] {
  if (records.every((record) => record.strayAt === 0)) {
    const rows = parseText(
      records.map((record) => record.text),
      delimiter,
    );
    if (rows.length === records.length) return rows;
  }
  return records.map((record) => {
    const rows = parseText([record.text], delimiter);
    return rows.length === 1 && rows[0] ? rows[0] : [record.text];
  });
}

/** The records are joined by a line feed of our own: what the file used between them is gone already. */
function parseText(texts: readonly string[], delimiter: string): string[][] {
  const parser = new Papa.Parser({ delimiter, newline: '\n', quoteChar: '"' });
  const result: { data: string[][] } = parser.parse(`${texts.join('\n')}\n`, 0, false);
  // The parser sees one more, empty record behind the last line feed.
  return result.data.slice(0, -1);
}
