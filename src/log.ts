/**
 * Log lines: one per unit of work, a constant message, facts as fields.
 *
 * No names, phones, e-mails or keys: a contact's key appears as a short hash (`rules.md`, "Secrets and personal
 * data"). What a careless caller passes in a field of a forbidden name is removed here as well.
 */
import { createHash } from 'node:crypto';
import pino from 'pino';

export type Logger = pino.Logger;

/** Fields that never leave the process, whatever the caller passes. */
export const redactedFields: readonly string[] = [
  'apiKey',
  'authorization',
  'Authorization',
  'token',
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
      formatters: { level: (label) => ({ level: label }) },
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
