/**
 * Log lines: one per unit of work, a constant message, facts as fields.
 *
 * Terms. The *context* says what the work belongs to: run, feed, batch, line of the file, tick of a schedule. It is set
 * once, where the work begins, and every line written meanwhile carries it, whoever writes it.
 *
 * No names, phones, e-mails or keys: a contact's key appears as a short hash, and so does the name of a file, which may
 * be a person's (`rules.md`, "Secrets and personal data"). What a careless caller passes in a field of a forbidden name
 * is removed here as well, and what others say in their errors is left without what they quote.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import pino from 'pino';

export type Logger = pino.Logger;

/** What a piece of work belongs to. */
export interface LogContext {
  readonly run?: string;
  readonly feed?: string;
  readonly batch?: number;
  /** The physical line of the one row that is worked on. */
  readonly line?: number;
  /** One time that a schedule was due. */
  readonly tick?: string;
}

interface Scope {
  readonly context: LogContext;
  readonly onLine: ((line: string) => void) | null;
}

const scopes = new AsyncLocalStorage<Scope>();

/**
 * Does the work: all its log lines carry the context, inside of what is set around it. `onLine` gets each of those lines
 * as well, as written, without its line end, also while nobody waits for the work any more; it must not throw.
 */
export function inLogContext<Result>(
  context: LogContext,
  work: () => Result,
  onLine: ((line: string) => void) | null = null,
): Result {
  const outer = scopes.getStore();
  const scope = { context: { ...outer?.context, ...context }, onLine: onLine ?? outer?.onLine ?? null };
  return scopes.run(scope, work);
}

/** Does what belongs to all work, though one piece of it gave the occasion. */
export function outsideLogContext<Result>(work: () => Result): Result {
  return scopes.exit(work);
}

/** Fields that never leave the process, whatever the caller passes. */
export const redactedFields: readonly string[] = [
  'apiKey',
  'authorization',
  'Authorization',
  'token',
  // Of files and people.
  'name',
  'fileName',
  'renamedTo',
  'cells',
  'contact',
  'desired',
  'value',
  'email',
  'phone',
  'headers.authorization',
  'headers.Authorization',
];

export interface LogOptions {
  readonly level: string;
  /** Where the lines go; by default standard error. */
  readonly stream?: pino.DestinationStream;
}

export function createLogger(options: LogOptions): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // A fresh one for each line: pino writes the line's own fields into it, which win.
      mixin: () => ({ ...scopes.getStore()?.context }),
      formatters: { level: (label) => ({ level: label }), log: withoutQuotes },
      hooks: {
        streamWrite: (line) => {
          scopes.getStore()?.onLine?.(line.trimEnd());
          return line;
        },
      },
      redact: { paths: [...redactedFields], remove: true },
    },
    options.stream ?? pino.destination({ dest: 2, sync: true }),
  );
}

/** A logger that says nothing. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}

/** A contact's key as it may stand in a log line: twelve hex digits of its SHA-256. */
export function keyHash(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 12);
}

/** A file as it may stand in a log line: a hash of its name, and what kind of file it is. */
export function fileTag(name: string): string {
  const ending = extname(name).toLowerCase();
  return `${keyHash(name)}${/^\.[a-z0-9]{1,6}$/.test(ending) ? ending : ''}`;
}

/** Fields that hold the words of an error: ours, a library's, the system's or the service's. */
const wordFields = ['reason', 'error', 'err', 'cause'];

function withoutQuotes(fields: Record<string, unknown>): Record<string, unknown> {
  const said = wordFields.filter((name) => fields[name] !== undefined);
  if (said.length === 0) return fields;
  return { ...fields, ...Object.fromEntries(said.map((name) => [name, wordsOf(fields[name])])) };
}

const wordsMax = 300;

/** What an error says, without what it quotes: paths end in file names, and a parser repeats what it could not read. */
function wordsOf(said: unknown): string {
  const text = said instanceof Error ? `${said.name}: ${said.message}` : String(said);
  return text
    .slice(0, wordsMax * 4)
    .replace(/(?<![\p{L}\p{N}])(["'`]).*?\1(?![\p{L}\p{N}])/gsu, '$1…$1')
    .replace(/[^\s@"'<>]+@[^\s@"'<>]+/g, '…')
    .replace(/\+\d[\d\s().-]{5,}\d|(?<!\d)\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}(?!\d)|(?<!\d)\d{10,}/g, '…')
    .slice(0, wordsMax);
}
