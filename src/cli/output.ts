/** What a command says: data on stdout, everything else on stderr; colours only where they are wanted. */
import { once } from 'node:events';
import { fstatSync, readSync, statSync } from 'node:fs';
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { jsonPieces, printableJson } from '#src/json/json-pieces.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { pasteableHints, withFlags } from '#src/shell-words.ts';
import { wantsColours } from './colours.ts';
import type { GlobalOptions } from './open-home.ts';

export type Style = Parameters<typeof styleText>[0];

export interface Output {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Whether values from files and contacts may be printed. */
  readonly values: boolean;
  /** One JSON document on one line of stdout; the commands in its hints as `paste` gives them. */
  document(value: unknown): void;
  /** The same, of a document that holds lists too long for memory (`jsonPieces`): written as fast as it is read. */
  longDocument(value: object): Promise<void>;
  /** A list of any length, one document a line, written as fast as it is read. */
  documents(values: AsyncIterable<unknown>): Promise<void>;
  /** A line of data on stdout. */
  line(text: string): void;
  /** Lines of data on stdout, written as fast as they are read. */
  lines(lines: AsyncIterable<string>): Promise<void>;
  /** A line on stderr, unless quiet. */
  note(text: string): void;
  style(style: Style, text: string): string;
  /** The text with the flags of this command added to each `patchbay …` in it, so that it works when it is pasted. */
  paste(text: string): string;
  table(head: readonly string[], rows: readonly (readonly string[])[]): string;
}

export function createOutput(options: GlobalOptions): Output {
  const colours = wantsColours(options, process.stdout);
  const style = (format: Style, text: string): string =>
    colours ? styleText(format, text, { validateStream: false }) : text;
  const json = (value: unknown): string => printableJson(value, pasteableHints(options));
  return {
    json: options.json === true,
    quiet: options.quiet === true,
    values: options.values !== false,
    document: (value) => print(`${json(value)}\n`),
    longDocument: async (value) => {
      for await (const piece of jsonPieces(value, json)) if (!(await written(piece))) return;
      await written('\n');
    },
    documents: async (values) => {
      for await (const value of values) if (!(await written(`${json(value)}\n`))) return;
    },
    lines: async (lines) => {
      for await (const line of lines) if (!(await written(`${line}\n`))) return;
    },
    line: (text) => print(`${text}\n`),
    note: (text) => {
      if (options.quiet !== true) process.stderr.write(`${text}\n`);
    },
    style,
    paste: (text) => withFlags(text, options),
    table: (head, rows) =>
      inColumns(
        head.map((name) => ({ text: style('bold', name), columns: stringWidth(name) })),
        rows.map((row) => row.map(printable).map((text) => ({ text, columns: stringWidth(text) }))),
      ),
  };
}

let hasPrinted = false;
let isStdoutBroken = false;

/** Whether stdout has got anything: with `--json` it holds one document. */
export function wasPrinted(): boolean {
  return hasPrinted;
}

/** Whether what is said on stdout is lost from now on. */
export function isStdoutLost(): boolean {
  return isStdoutBroken;
}

/** @returns whether stdout takes more. */
export function print(text: string): boolean {
  hasPrinted = true;
  return isStdoutBroken || process.stdout.write(text);
}

/** Resolves when stdout takes more, with whether it ever will. */
async function written(text: string): Promise<boolean> {
  // Its errors are noted where they arrive.
  if (!print(text)) await once(process.stdout, 'drain').catch(() => undefined);
  return !isStdoutBroken;
}

interface TableCell {
  readonly text: string;
  /** How many columns of a terminal it fills: those of East Asian letters and emoji are two. */
  readonly columns: number;
}

const columnGap = 2;

/** Each row on a line of its own, however many there are. */
function inColumns(head: readonly TableCell[], rows: readonly (readonly TableCell[])[]): string {
  const widths: number[] = [];
  for (const row of [head, ...rows])
    for (const [index, { columns }] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, columns);
  const lineOf = (row: readonly TableCell[]): string =>
    row
      .map(({ text, columns }, index) => `${text}${' '.repeat((widths[index] ?? 0) - columns + columnGap)}`)
      .join('')
      // The padding of the last column would be trailing blanks.
      .trimEnd();
  return [head, ...rows].map(lineOf).join('\n');
}

/** Text from files must not move the cursor or colour the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (char) =>
    char === '\n' || char === '\t' ? ' ' : '\ufffd',
  );
}

/**
 * From now on a standard output that breaks ends no work: what is still said there is lost, and the command goes on to its end with its own
 * exit code. A reader that has seen enough, as `head`, closes the pipe, which is no error; any other failure, as of a full disk, is 1
 * unless another code is due. Notes that find no reader are lost, too.
 */
export function outliveBrokenOutputs(): void {
  for (const [stream, onError] of [
    [process.stdout, noteBrokenStdout],
    [process.stderr, ignore],
  ] as const)
    if (!stream.listeners('error').includes(onError)) stream.on('error', onError);
}

const readerIsGone: readonly (string | undefined)[] = ['EPIPE', 'ECONNRESET'];

function noteBrokenStdout({ code, message }: NodeJS.ErrnoException): void {
  if (isStdoutBroken) return;
  isStdoutBroken = true;
  if (readerIsGone.includes(code)) return;
  process.stderr.write(`patchbay: standard output cannot be written: ${printable(message)}\n`);
  process.once('exit', () => {
    if ((process.exitCode ?? 0) === 0) process.exitCode = exitCodes.unexpected;
  });
}

function ignore(): void {}

/** From here on the command itself handles a standard output that breaks. */
export function handleBrokenStdout(): void {
  process.stdout.off('error', noteBrokenStdout);
  // The writer gets the error; without any listener it would end the process.
  process.stdout.on('error', ignore);
}

/**
 * Whether the process was started with standard output closed (`>&-`). Node then opens the null device in its place, and
 * readable too; `>/dev/null` opens it for writing only.
 */
export function wasStdoutClosed(): boolean {
  try {
    if (fstatSync(1).rdev !== statSync('/dev/null').rdev) return false;
    return readSync(1, Buffer.alloc(1)) === 0;
  } catch {
    // It cannot be read, or the system has no such device.
    return false;
  }
}
