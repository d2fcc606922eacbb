/**
 * Standard input as a file: what comes is written to disk whole, and is then a file like any other. Its name is `stdin` with
 * the ending of its format, which the user gives or the first bytes show.
 *
 * Invariants: the input is bounded like a file. Where reading ends early, by an error or by Ctrl-C, nothing stays on disk.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { constants, gunzipSync } from 'node:zlib';
import { fileError, PatchbayError } from '#src/errors.ts';
import { writeWholeFile } from '#src/whole-file.ts';
import type { InputFormat } from './file-name.ts';
import { defaultSourceLimits } from './format-reader.ts';

export interface SpooledInput {
  /** Of the file on disk, which the caller removes. */
  readonly path: string;
  /** What people see: `stdin.csv`. */
  readonly name: string;
}

interface SpoolOptions {
  /** A private folder on the disk of the data folder; made where it is missing. */
  readonly folder: string;
  /** Null: by the first bytes. */
  readonly format: InputFormat | null;
  readonly signal: AbortSignal;
  readonly bytesMax?: number;
}

/** Enough to know the format. */
const headBytes = 4096;

/**
 * @throws PatchbayError `usage` `stdinTerminal`; `file` `stdinEmpty`, `fileTooLarge`; `AbortError`; what `writeWholeFile` throws.
 */
export async function spoolInput(
  input: Readable & { readonly isTTY?: boolean },
  options: SpoolOptions,
): Promise<SpooledInput> {
  if (input.isTTY === true) throw isTerminal();
  const { folder, format, signal, bytesMax = defaultSourceLimits.unpackedBytesMax } = options;
  signal.throwIfAborted();
  const path = join(folder, `stdin-${randomUUID()}`);
  const head: Buffer[] = [];
  let byteCount = 0;
  const content = async function* (): AsyncGenerator<Buffer> {
    // Ends with the input, or where it is too large.
    for await (const chunk of addAbortSignal(signal, input)) {
      const bytes = Buffer.from(chunk);
      if (byteCount < headBytes) head.push(bytes);
      byteCount += bytes.length;
      if (byteCount > bytesMax) throw tooLarge(bytesMax);
      yield bytes;
    }
    if (byteCount === 0) throw isEmpty();
  };
  await writeWholeFile(path, content());
  return { path, name: `stdin${endingOf(Buffer.concat(head), format)}` };
}

/** `.csv`, `.json.gz`… Pure. */
export function endingOf(head: Uint8Array, format: InputFormat | null): string {
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const packing = isGzip ? '.gz' : '';
  if (format !== null) return `.${format}${packing}`;
  const text = textOf(isGzip ? unpackedStart(head) : head);
  if (text.startsWith('PK\u0003\u0004')) return /\[Content_Types\]\.xml|_rels\/|xl\//.test(text) ? '.xlsx' : '.zip';
  if (/^begin:vcard/i.test(text)) return `.vcf${packing}`;
  // One object per line is recognised in a .json, too.
  return `${/^(?:\{\s*["}]|\[\s*[[{"\]])/.test(text) ? '.json' : '.csv'}${packing}`;
}

/** The bytes as ASCII, in whatever encoding, without a mark and spaces in front. */
function textOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes)
    .toString('latin1')
    .replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '');
  return text.startsWith('PK') ? text : text.replaceAll('\0', '').trimStart();
}

/** What can be unpacked of a beginning. */
function unpackedStart(head: Uint8Array): Uint8Array {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * 1024 * 1024 });
  } catch {
    // The reader says what is wrong with it.
    return new Uint8Array();
  }
}

function isTerminal(): PatchbayError {
  return new PatchbayError(
    'usage',
    'stdinTerminal',
    'standard input is a terminal: nothing is piped into this command',
    {
      hint: 'Name a file, or pipe one in: curl -s https://crm.example.com/export.csv | patchbay import -',
    },
  );
}

function isEmpty(): PatchbayError {
  const hint = 'Check the command in front of the pipe: it ended without any output.';
  return fileError('stdinEmpty', 'standard input is empty', { file: 'stdin' }, hint);
}

function tooLarge(bytesMax: number): PatchbayError {
  const message = `standard input is longer than ${bytesMax} bytes`;
  return fileError(
    'fileTooLarge',
    message,
    { file: 'stdin', unpackedBytesMax: bytesMax },
    'Split the export into several files.',
  );
}
