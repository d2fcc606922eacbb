/**
 * Invented exports: eight columns with two phones each, in the spellings that CRMs write, some cells quoted. The same row
 * number gives the same row in every file; nobody is real: the numbers are of the 555 exchange, or of the ranges that are
 * kept for films.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';

export const exportColumns = [
  'externalId',
  'firstName',
  'lastName',
  'company',
  'role',
  'email work',
  'phone mobile',
  'phone work',
] as const;

/** Of numbers that are written without one. */
export const exportCountry = 'US';

export interface ExportRows {
  readonly count: number;
  /** Number of the first row; rows of other numbers are other people. */
  readonly first?: number;
  /** Every so many rows have another role than in the file without it. */
  readonly changedEvery?: number;
}

const areaCodes = [201, 212, 213, 303, 305, 312, 404, 415, 469, 503, 512, 602, 617, 646, 702, 713, 773, 808, 818, 917];
const filmRanges = ['30 23125', '40 66969', '69 90009', '89 99998'];
const firstNames = ['Ada', 'Zoë', 'Jürgen', 'Mary Ann', 'Noor', 'Łukasz', 'Inès', 'Bo', 'Priya', 'Chidi'];

/** The cells of one row, before CSV quotes them. */
export function cellsOfRow(index: number, isChanged = false): readonly string[] {
  const word = ((index * 2_654_435_761) >>> 0).toString(36);
  return [
    `crm-${String(index).padStart(7, '0')}`,
    firstNames[index % firstNames.length] ?? '',
    `Sample-${word}`,
    index % 5 === 0 ? `Müller, ${word} & Co` : `Company ${index % 9_973}`,
    `${isChanged ? 'Former' : 'Head of'} ${index % 7 === 0 ? '"field" sales' : `unit ${index % 31}`}`,
    index % 11 === 0 ? '' : `${word}.${index}@Example.com`,
    phoneOf(index),
    phoneOf(index + 7_000_003),
  ];
}

function phoneOf(index: number): string {
  const tail = String(index % 10_000).padStart(4, '0');
  const area = areaCodes[Math.floor(index / 10_000) % areaCodes.length];
  switch (index % 10) {
    case 0:
      return `(${area}) 555-${tail}`;
    case 1:
      return `+1 ${area} 555 ${tail}`;
    case 2:
      return `+1 (${area}) 555-${tail}`;
    case 3:
      return `${area}.555.${tail}`;
    case 4:
      return `1-${area}-555-${tail}`;
    case 5:
      return `+49 ${filmRanges[index % filmRanges.length]}${String(index % 1_000).padStart(3, '0')}`;
    case 6:
      return `${area}-555-${tail}`;
    default:
      return `+1${area}555${tail}`;
  }
}

/** Writes the file whole or not at all. */
export async function writeExport(path: string, { count, first = 0, changedEvery = 0 }: ExportRows): Promise<void> {
  const out = createWriteStream(`${path}.part`);
  let text = `${exportColumns.join(',')}\n`;
  for (let index = first; index < first + count; index += 1) {
    const isChanged = changedEvery > 0 && index % changedEvery === 0;
    text += `${cellsOfRow(index, isChanged).map(quoted).join(',')}\n`;
    if (text.length < 1_000_000) continue;
    if (!out.write(text)) await once(out, 'drain');
    text = '';
  }
  out.end(text);
  await finished(out);
  await rename(`${path}.part`, path);
}

function quoted(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
