/**
 * Opens a dropped file for reading: from bytes on disk to rows with their physical lines.
 *
 * The way: regular file → unpacked bytes → encoding, decided by a first pass → text → rows, batch by batch. What
 * concerns the file as a whole throws a `file` error ("F" in bad-inputs.md); what concerns a row is a broken item.
 *
 * Invariant: memory stays flat whatever the file's size, and a file that changed on the way is never taken for read.
 */
import { setImmediate } from 'node:timers/promises';
import type { Problem } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import { decodeText } from '#src/sources/decode.ts';
import { type DetectedEncoding, detectEncoding } from '#src/sources/detect-encoding.ts';
import { fileError } from '#src/sources/file-error.ts';
import { classifyFileName, type NamedFormat } from '#src/sources/file-format.ts';
import type { FormatReader } from '#src/sources/format-reader.ts';
import { isEnoughForForm, jsonFormOf } from '#src/sources/json-form.ts';
import { readCsv } from '#src/sources/read-csv.ts';
import { readJson } from '#src/sources/read-json.ts';
import { readNdjson } from '#src/sources/read-ndjson.ts';
import type { SourceHead, SourceItem, SourceTail } from '#src/sources/row.ts';
import { openSourceFile, type SourceFile } from '#src/sources/source-file.ts';
import { defaultSourceLimits, type SourceLimits } from '#src/sources/source-limits.ts';
import { peekText } from '#src/sources/text-stream.ts';
import { unpackedBytes } from '#src/sources/unpack.ts';

export interface SourceOptions {
  /** The user's file name: decides the format, and stands in every message. */
  readonly name: string;
  /** CSV: one character. Without it: `sep=`, then .tsv, then detection. */
  readonly delimiter?: string;
  /** Overrides detection and makes it strict. */
  readonly encoding?: string;
  /** CSV: names, one of which must stand in the header within 20 lines. JSON: names that make a lone object a contact. */
  readonly requiredColumn?: readonly string[];
  /** CSV rows to leave out with a warning: the footer of a known export. */
  readonly isFooter?: (cells: readonly string[]) => boolean;
  readonly limits?: Partial<SourceLimits>;
}

export interface OpenSource {
  readonly head: SourceHead;
  /** Batches of 1 to 500 items; may be taken once. The next one is read when it is asked for. Throws `file` errors. */
  batches(): AsyncIterable<readonly SourceItem[]>;
  /** Valid after the last batch. */
  tail(): SourceTail;
  /** May be called at any time, and twice. */
  close(): Promise<void>;
}

/** Throws `file` errors, and `usage` errors for an unknown encoding or delimiter. Whoever opens, closes. */
export async function openSource(path: string, options: SourceOptions): Promise<OpenSource> {
  const { format, gzip } = formatByName(options.name);
  const limits: SourceLimits = { ...defaultSourceLimits, ...options.limits };
  const file = await openSourceFile(path, options.name);
  let text: AsyncGenerator<string> | null = null;
  try {
    const read = () => unpackedBytes(file, gzip, limits);
    const encoding = await detectEncoding(read, options.name, options.encoding);
    text = decodeText(read(), encoding.label, options.name);
    const reader = await readerFor(format, text, options, limits);
    return sourceOf(file, reader, encoding, text);
  } catch (error) {
    const told = await changeFirst(file, error);
    await text?.return(undefined);
    await file.close();
    throw told;
  }
}

function formatByName(name: string): { format: NamedFormat; gzip: boolean } {
  const named = classifyFileName(name);
  if (named.kind === 'take') return named;
  const refusal = named.kind === 'refuse' ? named : classifyFileName(`x${name.replace(/^[._~$]+/, '')}`);
  if (refusal.kind === 'take') return refusal;
  const hint = refusal.kind === 'refuse' ? refusal.hint : 'Wait until it is complete and has its final name.';
  const message = refusal.kind === 'refuse' ? refusal.message : 'its name is that of a temporary file';
  throw fileError('formatUnknown', `${name}: ${message}`, { file: name }, hint);
}

async function readerFor(
  format: NamedFormat,
  text: AsyncGenerator<string>,
  options: SourceOptions,
  limits: SourceLimits,
): Promise<FormatReader> {
  const { name, requiredColumn = [] } = options;
  if (format === 'csv' || format === 'tsv') {
    return readCsv(text, {
      name,
      delimiter: options.delimiter ?? (format === 'tsv' ? '\t' : null),
      requiredColumn,
      isFooter: options.isFooter ?? (() => false),
      limits,
    });
  }
  const peeked = await peekText(text, (head) => isEnoughForForm(head, limits.recordBytesMax));
  const form = jsonFormOf(peeked, format === 'ndjson' ? 'lines' : 'document');
  const read = form === 'lines' ? readNdjson : readJson;
  return read(peeked.all(), { name, requiredColumn, limits });
}

function sourceOf(
  file: SourceFile,
  reader: FormatReader,
  encoding: DetectedEncoding,
  text: AsyncGenerator<string>,
): OpenSource {
  let closed: Promise<void> | null = null;
  const assumed = assumedEncoding(file.name, encoding);
  return {
    head: { ...reader.head, encoding: encoding.label },
    batches: () => guardedBatches(file, reader),
    tail: () => {
      const tail = reader.tail();
      return assumed === null ? tail : { ...tail, warnings: [assumed, ...tail.warnings] };
    },
    close: () => {
      closed ??= text.return(undefined).then(() => file.close());
      return closed;
    },
  };
}

async function* guardedBatches(file: SourceFile, reader: FormatReader): AsyncGenerator<readonly SourceItem[]> {
  try {
    for await (const batch of reader.batches()) {
      yield batch;
      // Parsing is synchronous; timers, sockets and leases get their turn between two batches.
      await setImmediate();
    }
  } catch (error) {
    throw await changeFirst(file, error);
  }
  await file.assertUnchanged();
}

/** Whatever is wrong with a file that changed meanwhile, the change is the news. */
async function changeFirst(file: SourceFile, error: unknown): Promise<unknown> {
  if (!(error instanceof PatchbayError) || error.kind !== 'file') return error;
  return file.assertUnchanged().then(
    () => error,
    (changed: unknown) => changed,
  );
}

function assumedEncoding(name: string, encoding: DetectedEncoding): Problem | null {
  if (encoding.assumedFromLine === null) return null;
  return {
    code: 'encodingAssumed',
    line: encoding.assumedFromLine,
    field: null,
    value: null,
    message: `${name} is not UTF-8 (first at line ${encoding.assumedFromLine}); it was read as Windows-1252`,
    hint: 'If letters look wrong, save it as "CSV UTF-8" or name its encoding with --encoding.',
  };
}
