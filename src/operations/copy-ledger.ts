/** Copies the ledger from the data folder into PostgreSQL, or back: neither end is worked on meanwhile. */
import { existsSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ledgerPlace, schemaSuffixOf } from '#src/app.ts';
import { systemClock } from '#src/clock.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import type { Config, ServiceMode } from '#src/config/schema.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Actor, NewAct } from '#src/ledger/acts.ts';
import {
  type CopiedCount,
  type CopyOptions,
  type CopySource,
  type CopyTarget,
  copyLedger,
} from '#src/ledger/copy/copy-ledger.ts';
import { type EngineLock, takeEngineLock } from '#src/ledger/engine-presence.ts';
import { type LedgerPlace, nameOfPlace } from '#src/ledger/place.ts';
import { openSqliteSource, openSqliteTarget } from '#src/ledger/sqlite/copy.ts';
import { withAdvice } from './ledger.ts';

export interface CopyRequest extends Omit<CopyOptions, 'act'> {
  readonly actor: Actor;
  readonly config: Config;
  /** Whose ledger of the data folder is copied. */
  readonly mode: ServiceMode;
  /** `--to`, as a person gave it. */
  readonly to: string;
}

export interface CopyReport {
  /** Paths, or URLs without their password. */
  readonly from: string;
  readonly to: string;
  /** Counts and checksums that both ends have. */
  readonly tables: readonly CopiedCount[];
  readonly rows: number;
  readonly seconds: number;
  readonly target: LedgerPlace['kind'];
  /** The file that commands on this data folder would use, where the copy is another file: it is the ledger of an earlier time, if any. */
  readonly instead: string | null;
}

/**
 * @throws PatchbayError `usage`: `engineRunning`, `ledgerInUse`, `copyOntoItself`, `copyTargetUnknown`, `copyToFile`, `copyNotWritten`, `copyExists`, `copyTargetTaken`,
 *   `ledgerMissing`, what opening throws; `transient`: `copyDiffers`, trouble of either database. Then there is no copy, except after
 *   `commitUnanswered`. The signal's reason.
 */
export async function copyTheLedger({ config, mode, to, actor, ...options }: CopyRequest): Promise<CopyReport> {
  const from = ledgerPlace(config, mode);
  const place = placeOf(to, mode);
  const { lockFile, ledgerFile } = dataFolders(config, mode);
  if (from.kind === 'file' && place.kind === 'file') {
    throw new PatchbayError('usage', 'copyToFile', 'the ledger is in a file, and --to names a file too', {
      hint: 'Run `patchbay ledger backup FILE` for a second file; --to postgres://… copies into a database.',
    });
  }
  if (place.kind === 'file' && !existsSync(dirname(place.file))) {
    throw new PatchbayError('usage', 'copyNotWritten', `there is no folder ${dirname(place.file)}`, {
      hint: 'Name a file in a folder that is there. Nothing was copied.',
    });
  }
  const locks = takeLocks([lockFile, ...(place.kind === 'file' ? [join(dirname(place.file), 'engine.lock')] : [])]);
  const startedAt = performance.now();
  let source: CopySource | null = null;
  let target: CopyTarget | null = null;
  try {
    source = await withAdvice(from, mode, () => openSource(from));
    target = await openTarget(place).catch(asSaid);
    const facts = { from: from.kind, to: place.kind };
    // By the ledger's clock it is entered at the latest instant that the ledger knows: nothing works on it.
    const act: NewAct = {
      ...actor,
      kind: 'ledgerCopy',
      reason: null,
      atMs: systemClock().nowMs(),
      ledgerAtMs: 0,
      facts,
    };
    const copied = copyLedger(source, target, { ...options, act });
    // Of a file and a database, trouble of a database is that of the one.
    const tables = await (from.kind === 'file' ? copied.catch(asSaid) : copied);
    return {
      from: await nameOfPlace(from),
      to: await nameOfPlace(place),
      tables,
      rows: tables.reduce((sum, { rows }) => sum + rows, 0),
      seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      target: place.kind,
      instead: place.kind === 'file' && place.file !== resolve(ledgerFile) ? resolve(ledgerFile) : null,
    };
  } finally {
    await target?.close();
    await source?.close();
    for (const release of locks) release();
  }
}

/** The sandbox's ledger goes to a schema of the sandbox, where `DATABASE_URL` finds it. */
function placeOf(to: string, mode: ServiceMode): LedgerPlace {
  const [, scheme] = /^([a-z][a-z0-9+.-]+):/i.exec(to) ?? [];
  switch (scheme?.toLowerCase()) {
    case 'postgres':
    case 'postgresql':
      return { kind: 'database', url: to, suffix: schemaSuffixOf(mode) };
    case 'sqlite':
      return { kind: 'file', file: resolve(to.slice('sqlite:'.length).replace(/^\/\//, '')) };
    case undefined:
      return { kind: 'file', file: resolve(to) };
    default:
      throw new PatchbayError('usage', 'copyTargetUnknown', `--to has the scheme ${scheme}, which is no ledger`, {
        hint: 'Write --to postgres://user@host/database, or --to FILE.',
      });
  }
}

/** Each folder's once. @throws PatchbayError `usage` `engineRunning`, with none of them held. */
function takeLocks(files: readonly string[]): readonly (() => void)[] {
  const releases: (() => void)[] = [];
  for (const file of new Set(files.map((one) => resolve(one)))) {
    const isNew = !existsSync(file);
    const lock: EngineLock | null = takeEngineLock(file);
    if (lock === null) {
      for (const release of releases) release();
      throw new PatchbayError('usage', 'engineRunning', `an engine works on ${dirname(file)}`, {
        hint: 'Stop it first: what it writes meanwhile would be missing in the copy. Nothing was copied.',
      });
    }
    releases.push(() => {
      lock.release();
      if (isNew) rmSync(file, { force: true });
    });
  }
  return releases;
}

async function openSource(place: LedgerPlace): Promise<CopySource> {
  if (place.kind === 'file') return await openSqliteSource(place.file);
  return await (await postgres()).openPostgresSource(place.url, place.suffix);
}

async function openTarget(place: LedgerPlace): Promise<CopyTarget> {
  if (place.kind === 'file') return await openSqliteTarget(place.file);
  return await (await postgres()).openPostgresTarget(place.url, place.suffix);
}

/** Trouble of the database that a person gave as `--to`. */
function asSaid(error: unknown): never {
  if (!(error instanceof PatchbayError)) throw error;
  const { kind, code, message, facts } = error;
  const said = (text: string): string =>
    text.replaceAll('DATABASE_URL', '--to').replace(', or unset it to keep the ledger in the data folder', '');
  const hint = code === 'ledgerAway' ? awayHint : error.hint;
  throw new PatchbayError(kind, code, said(message), {
    facts,
    cause: error,
    ...(hint === null ? {} : { hint: said(hint) }),
  });
}

const awayHint =
  'Check --to, and that PostgreSQL runs there. Nothing was copied; run the same command again when it answers.';

/** Loaded where it is used: most ledgers are files. */
const postgres = () => import('#src/ledger/postgres/copy.ts');
