/**
 * Log lines: one per unit of work, a constant message, facts as fields.
 *
 * Terms: the *context* says what the work belongs to: run, feed, batch, line of the file, tick of a schedule. It is set once,
 * where the work begins, and every line written during the work carries it.
 *
 * No names, phones, e-mails or keys: a contact's key appears as a short hash, and so does the name of a file, which may be a
 * person's (`docs/rules.md`, "Secrets and personal data"). Fields with a forbidden name are removed here, and the messages of errors
 * lose what they quote.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import pino from 'pino';

export type Logger = pino.Logger;

/** What the work belongs to. */
export interface LogContext {
  readonly run?: string;
  readonly feed?: string;
  readonly batch?: number;
  /** The physical line of the row. */
  readonly line?: number;
  /** One occurrence of a schedule. */
  readonly tick?: string;
}

interface Scope {
  readonly context: LogContext;
  readonly onLine: ((line: string) => void) | null;
}

const scopes = new AsyncLocalStorage<Scope>();

/**
 * Runs the work with the context, added to the surrounding one. `onLine` also gets each of its log lines, as written, without the
 * line end, even after the caller has stopped waiting for the work; it must not throw.
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

/** Runs work that does not belong to the surrounding context, although it was started there. */
export function outsideLogContext<Result>(work: () => Result): Result {
  return scopes.exit(work);
}

/** Fields that are removed from every line. */
export const redactedFields: readonly string[] = [
  'apiKey',
  'authorization',
  'Authorization',
  'token',
  // Names of files and persons.
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
  /** `name` of the configuration, in every line; null or absent: none. */
  readonly installation?: string | null;
  /** By default standard error. */
  readonly stream?: pino.DestinationStream;
}

export function createLogger(options: LogOptions): Logger {
  return pino(
    {
      level: options.level,
      base: options.installation == null ? null : { installation: options.installation },
      timestamp: pino.stdTimeFunctions.isoTime,
      // A new object per line: pino merges the line's own fields into it, and they take precedence.
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

/** A logger that writes nothing. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}

/** A contact's key for a log line: twelve hex digits of its SHA-256. */
export function keyHash(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 12);
}

/** A file for a log line: a hash of its name, and its extension. */
export function fileTag(name: string): string {
  const ending = extname(name).toLowerCase();
  return `${keyHash(name)}${/^\.[a-z0-9]{1,6}$/.test(ending) ? ending : ''}`;
}

/** Fields that hold the message of an error: ours, a library's, the system's or the service's. */
const wordFields = ['reason', 'error', 'err', 'cause'];

function withoutQuotes(fields: Record<string, unknown>): Record<string, unknown> {
  const present = wordFields.filter((name) => fields[name] !== undefined);
  if (present.length === 0) return fields;
  return { ...fields, ...Object.fromEntries(present.map((name) => [name, wordsOf(fields[name])])) };
}

const wordsMax = 300;

/** The message of an error without what it quotes: paths end in file names, and a parser repeats what it could not read. At most 300 characters. */
export function wordsOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text
    .slice(0, wordsMax * 4)
    .replace(/(?<![\p{L}\p{N}])(["'`]).*?\1(?![\p{L}\p{N}])/gsu, '$1…$1')
    .replace(/[^\s@"'<>]+@[^\s@"'<>]+/g, '…')
    .replace(/\+\d[\d\s().-]{5,}\d|(?<!\d)\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}(?!\d)|(?<!\d)\d{10,}/g, '…')
    .slice(0, wordsMax);
}
