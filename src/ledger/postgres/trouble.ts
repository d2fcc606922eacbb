/**
 * Trouble of a ledger in PostgreSQL, classified where its code is seen (`src/ledger/trouble.ts`): what passes by itself, what a
 * person has to set right, and damage.
 */
import { type Facts, messageOf, PatchbayError, systemCodeOf } from '#src/errors.ts';
import { passing } from '#src/ledger/trouble.ts';
import type { Address } from './address.ts';

/**
 * Damage that the server has met: broken pages or indexes. Its codes: data corrupted, index corrupted.
 * Others begin with the class of the error, of two characters, where all of a class mean the same.
 */
const damaged: readonly string[] = ['XX001', 'XX002'];
const states = {
  lockTimeout: '55P03',
  statementTimeout: '57014',
  deadlock: '40P01',
  serialization: '40001',
  readOnly: '25006',
  diskFull: '53100',
  outOfMemory: '53200',
  tooManyConnections: '53300',
  ioError: '58030',
  wrongPassword: '28P01',
  refusedByRules: '28000',
  noDatabase: '3D000',
  noRights: '42501',
  startingUp: '57P03',
} as const;

/** The connection broke or never was: nothing of the server's own, so the driver's words or a system's code tell. */
const brokenWords =
  /connection terminated|connection error|not queryable|timeout expired|timeout exceeded|read timeout|socket|client was closed/i;
const brokenCodes: readonly string[] = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'ENOENT', 'EADDRNOTAVAIL', 'ENETDOWN'],
];

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/;

/**
 * The error in our words; null where it is another one.
 * Kind `transient`: `ledgerAway`, `ledgerBusy`, `ledgerSlow`, `ledgerReadOnly`, `diskFull`, `ledgerIoFails`; `usage`: `ledgerRefused`,
 * `ledgerDatabaseMissing`, `ledgerNoRights`, `ledgerCertificate`, `ledgerNotEncrypted`; `damaged`: `ledgerDamaged`.
 */
export function postgresTroubleOf(error: unknown, { shown }: Pick<Address, 'shown'>): PatchbayError | null {
  const code = systemCodeOf(error) ?? '';
  if (damaged.includes(code)) {
    return new PatchbayError('damaged', 'ledgerDamaged', `the ledger ${shown} is damaged: ${messageOf(error)}`, {
      hint: 'Stop Patchbay, and restore the database from a backup (docs/operations.md, "PostgreSQL").',
      cause: error,
    });
  }
  const facts = { sqlState: code };
  if (/during recovery/.test(messageOf(error)) && code !== states.startingUp) return readOnly(error, facts);
  switch (code) {
    case states.lockTimeout:
    case states.deadlock:
    case states.serialization:
      return passing('ledgerBusy', 'another process holds the ledger and does not let go', error, facts);
    case states.statementTimeout:
      return passing(
        'ledgerSlow',
        `the ledger's database did not answer a statement in time: ${messageOf(error)}`,
        error,
        facts,
      );
    case states.readOnly:
      return readOnly(error, facts);
    case states.diskFull:
      return passing('diskFull', "the disk of the ledger's database has no room", error, facts);
    case states.ioError:
      return passing('ledgerIoFails', `the disk of the ledger's database fails: ${messageOf(error)}`, error, facts);
    case states.tooManyConnections:
      return new PatchbayError('transient', 'ledgerAway', fullMessage(error, shown), {
        hint: fullHint,
        facts,
        cause: error,
      });
    case states.wrongPassword:
    case states.refusedByRules:
      return new PatchbayError('usage', 'ledgerRefused', `PostgreSQL at ${shown} refuses the user or the password`, {
        hint: 'Check user and password in DATABASE_URL, and the rules of pg_hba.conf for this host.',
        cause: error,
      });
    case states.noDatabase:
      return new PatchbayError('usage', 'ledgerDatabaseMissing', `PostgreSQL has no such database: ${shown}`, {
        hint: 'Create it with createdb, encoding UTF8, or correct DATABASE_URL.',
        cause: error,
      });
    case states.noRights:
      return new PatchbayError(
        'usage',
        'ledgerNoRights',
        `PostgreSQL at ${shown} does not allow that: ${messageOf(error)}`,
        {
          hint: 'Let the user of DATABASE_URL own the schema, or create schemas in the database.',
          cause: error,
        },
      );
  }
  if (certificateCodes.test(code)) {
    return new PatchbayError(
      'usage',
      'ledgerCertificate',
      `the certificate of PostgreSQL at ${shown} is refused: ${messageOf(error)}`,
      {
        hint: 'Name its root certificate with sslrootcert=FILE in DATABASE_URL, or the host by the name that the certificate has.',
        cause: error,
      },
    );
  }
  if (error instanceof Error && code === '') {
    if (/does not support SSL/.test(error.message)) {
      return new PatchbayError('usage', 'ledgerNotEncrypted', `PostgreSQL at ${shown} has no encryption`, {
        hint: 'Switch it on in the server (ssl = on), or write sslmode=disable where the network is trusted.',
        cause: error,
      });
    }
    if (/password must be a/.test(error.message)) {
      return new PatchbayError(
        'usage',
        'ledgerRefused',
        `PostgreSQL at ${shown} asks for a password, and there is none`,
        {
          hint: 'Add it to DATABASE_URL, or set PGPASSWORD.',
          cause: error,
        },
      );
    }
  }
  return isAway(error, code) ? passing('ledgerAway', awayMessage(error, shown), error, facts) : null;
}

/** A standby reads alone, and says so in more than one way. */
function readOnly(error: unknown, facts: Facts): PatchbayError {
  return passing('ledgerReadOnly', `the ledger's database takes no writes now: ${messageOf(error)}`, error, facts);
}

/** By role, by database, or by server: its words say which. It runs, and is to be asked again: `ledgerAway` passes. */
function fullMessage(error: unknown, shown: string): string {
  return `the ledger's database at ${shown} accepts no more connections: ${messageOf(error)}`;
}

const fullHint =
  'It runs. Raise the limit (of the role or the database: CONNECTION LIMIT; of the server: max_connections), or close what takes them up: each process of Patchbay needs six, and an engine a seventh. Nothing is lost; run the same command again.';

/** Class 08: the connection; 57P0: shutting down, crashed, starting up; 53: no memory, no connection left. */
function isAway(error: unknown, code: string): boolean {
  if (/^(08|53|57P)/.test(code) || code === '25P03' || brokenCodes.includes(code)) return true;
  if (error instanceof AggregateError) return error.errors.some((one) => brokenCodes.includes(systemCodeOf(one) ?? ''));
  return error instanceof Error && (code === '' || code.startsWith('ERR_')) && brokenWords.test(error.message);
}

function awayMessage(error: unknown, shown: string): string {
  const why = error instanceof AggregateError ? (error.errors.map(messageOf)[0] ?? '') : messageOf(error);
  return `the ledger's database at ${shown} does not answer: ${why}`;
}

/**
 * Whether the connection was lost, so that no process knows what the server made of the last statement. A server that closes a
 * connection says so first, and has rolled back; of a COMMIT only an answer tells.
 */
export function isLost(error: unknown): boolean {
  const code = systemCodeOf(error) ?? '';
  return /^(08|57P)/.test(code) || isAway(error, code);
}
