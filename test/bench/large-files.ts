/**
 * Large files: `node test/bench/large-files.ts [SHEET_ROWS] [CSV_MB]` (350,000 rows, about 20 MB packed, and 1,000 MB without).
 *
 * Peak memory (`VmHWM`, as the kernel counted it) and seconds of processes of their own: one that reads a workbook row by row, one that
 * reads a CSV file, and an import of the workbook into the sandbox. It exits with 1 where a
 * peak is above its limit: 500 MB for the workbook, 280 MB for CSV.
 */
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openSource } from '#src/sources/open-source.ts';
import { workbookMembers } from '#test/support/workbook.ts';
import { zipFile } from '#test/support/zip-file.ts';
import { launchFlags } from './launch-flags.ts';

const root = resolve(import.meta.dirname, '../..');
const cli = join(root, 'src/cli/patchbay.mjs');
const workbookMbMax = 500;
const csvMbMax = 280;
const header = [
  'externalId',
  'firstName',
  'lastName',
  'company',
  'role',
  'email work',
  'phone mobile',
  'custom.office_address',
];
const longNote = ' and called twice since then'.repeat(8);

interface Measured {
  readonly seconds: number;
  readonly peakMb: number;
}

if (process.argv[2] === '--read') {
  await readThrough(process.argv[3] ?? '');
} else {
  await measure(Number(process.argv[2] ?? 350_000), Number(process.argv[3] ?? 1_000));
}

async function readThrough(path: string): Promise<void> {
  const source = await openSource(path, { name: path });
  let count = 0;
  for await (const slice of source.slices()) count += slice.length;
  await source.close();
  console.log(count);
}

async function measure(sheetRows: number, csvMb: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
  try {
    const workbook = join(folder, 'large.xlsx');
    await writeFile(workbook, workbookOfRows(sheetRows));
    const csv = join(folder, 'large.csv');
    await pipeline(Readable.from(csvChunks(csvMb)), createWriteStream(csv));
    const self = import.meta.filename;
    const whole = [cli, 'import', workbook, '--sandbox', '--json', '--data', join(folder, 'data')];
    const steps = [
      ['reading the workbook', workbook, workbookMbMax, [self, '--read', workbook]],
      ['reading the CSV file', csv, csvMbMax, [self, '--read', csv]],
      ['importing the workbook', workbook, workbookMbMax, whole],
    ] as const;
    for (const [what, path, mbMax, args] of steps) {
      const { peakMb, seconds } = await run(args);
      const megabytes = Math.round((await stat(path)).size / 1e6);
      console.log(`${what.padEnd(22)} ${megabytes} MB: peak ${peakMb} MB (at most ${mbMax}), ${seconds.toFixed(1)} s`);
      if (peakMb > mbMax) process.exitCode = 1;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function cellsOf(row: number): readonly string[] {
  const word = ((row * 2_654_435_761) >>> 0).toString(36);
  return [
    `crm-${row}`,
    `Ada ${word}`,
    `Müller-${word}`,
    `Company ${row % 9_973}`,
    'Head of sales',
    `${word}.${row}@example.com`,
    `+1415${5_550_000 + (row % 4_000_000)}`,
    `met ${word} at the fair of ${1990 + (row % 30)}`,
  ];
}

/** Shared texts in the order of their cells, as Excel writes them, most of them unique. */
function workbookOfRows(rows: number): Buffer {
  const indexes = new Map<string, number>();
  const texts: string[] = [];
  const lines: string[] = [];
  for (let row = 0; row <= rows; row++) {
    const cells = (row === 0 ? header : cellsOf(row)).map((text, column) => {
      let index = indexes.get(text);
      if (index === undefined) {
        index = indexes.size;
        indexes.set(text, index);
        texts.push(`<si><t>${text}</t></si>`);
      }
      return `<c r="${'ABCDEFGH'[column]}${row + 1}" s="1" t="s"><v>${index}</v></c>`;
    });
    lines.push(`<row r="${row + 1}" spans="1:8">${cells.join('')}</row>`);
  }
  const parts: Readonly<Record<string, string>> = {
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${lines.join('')}</sheetData></worksheet>`,
    'xl/sharedStrings.xml': `<sst>${texts.join('')}</sst>`,
  };
  const members = workbookMembers({ sheets: [{ name: 'Contacts', rows: [['a']] }] });
  return zipFile(members.map((member) => ({ ...member, data: parts[member.name] ?? member.data })));
}

function* csvChunks(megabytes: number): Generator<string> {
  yield `${header.join(',')}\n`;
  let bytes = 0;
  // Ends when the file is as large as it should be.
  for (let row = 1; bytes < megabytes * 1e6; ) {
    const lines: string[] = [];
    // Long notes, since a file may have 5,000,000 rows.
    for (const end = row + 1_000; row < end; row++) lines.push(`${cellsOf(row).join(',')}${longNote}`);
    const chunk = `${lines.join('\n')}\n`;
    bytes += Buffer.byteLength(chunk);
    yield chunk;
  }
}

async function run(args: readonly string[]): Promise<Measured> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...launchFlags, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let peakKb = 0;
  const look = async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
  };
  const watch = setInterval(look, 50);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-2_000);
  });
  const code = await new Promise((done) => child.once('exit', done));
  clearInterval(watch);
  if (code !== 0) throw new Error(`ended with ${code}: ${output}`);
  return { seconds: (performance.now() - startedAt) / 1_000, peakMb: Math.round(peakKb / 1024) };
}
