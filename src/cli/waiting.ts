/** Commands that work wait for a ledger that is away, and say for what they wait. Commands that only look end at once. */
import type { Home } from '#src/app.ts';
import { type Clock, systemClock } from '#src/clock.ts';
import { formatDuration } from '#src/config/forms.ts';
import { requireServiceOfEngine } from '#src/engine/same-service.ts';
import type { PatchbayError } from '#src/errors.ts';
import { isLedgerAway } from '#src/ledger/trouble.ts';
import { waitOut } from '#src/ledger/wait-out.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { letSignalsArrive, listenForInterrupt, nothingBegunHint, reportInterrupted } from './interrupt.ts';
import { type GlobalOptions, type HomeOpener, type HomeUse, homeOpener } from './open-home.ts';
import { createOutput, printable } from './output.ts';

/**
 * `openCliHome`, again and again while the ledger is away. A signal meanwhile ends the process, since nothing has begun.
 * @param onWait called beside the note for people, with each other trouble. Must not throw.
 * @throws PatchbayError as `openCliHome`; `usage` `otherService`; `transient` `ledgerAway` and its like when patience is over.
 */
export async function openPatiently(
  options: GlobalOptions,
  use: HomeUse,
  patienceMs: number,
  onWait: (trouble: PatchbayError, config: HomeOpener['config']) => void = () => undefined,
): Promise<Home> {
  const output = createOutput(options);
  const interrupt = listenForInterrupt(() => undefined);
  const { signal } = interrupt;
  const say = ledgerNotes(output.note, patienceMs);
  try {
    const { config, open } = await homeOpener(options, use);
    const tell = (trouble: PatchbayError): void => {
      say(trouble);
      onWait(trouble, config);
    };
    const openChecked = async (): Promise<Home> => checked(await open(), use);
    const home = await waitOut({ clock: systemClock(), patienceMs, signal, onWait: tell }, openChecked, isLedgerAway);
    await letSignalsArrive();
    if (!signal.aborted) return home;
    await home.close();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    interrupt.dispose();
  }
  const message = 'interrupted while the ledger was opened; nothing was begun';
  const exitCode = interrupt.exitCode() ?? exitCodes.interrupted;
  process.exit(reportInterrupted(output, message, exitCode, undefined, nothingBegunHint));
}

/** What a command asks for, the engine that runs would do, and for its own service: so a command of another one ends before it begins. */
async function checked(home: Home, use: HomeUse): Promise<Home> {
  try {
    if (use === 'act' || use === 'import') await requireServiceOfEngine(home);
    return home;
  } catch (error) {
    await home.close();
    throw error;
  }
}

/** For a command that waits for the lock of the data folder. */
export const folderTakenText = 'another command on this data folder is starting its engine, or reads: waiting for it';

/** Says for what an engine waits that finds the entry of another one in Redis. */
export function otherEntryNote(note: (text: string) => void): (leftMs: number) => void {
  return (leftMs) => {
    const howLong = formatDuration(Math.max(1, Math.ceil(leftMs / 1_000)) * 1_000);
    note(
      `waiting for up to ${howLong} until the entry of another engine in Redis lapses: it was killed, or is of a copy`,
    );
  };
}

/**
 * What a command waits for, for people: once for each cause; null: the message says it.
 * @param patienceMs infinite: until it is there, or the command is interrupted.
 */
export function waitingNotes(
  note: (text: string) => void,
  patienceMs: number,
): (what: 'service' | 'queue' | 'ledger' | 'folder' | null, message: string) => void {
  const howLong = Number.isFinite(patienceMs) ? ` for up to ${formatDuration(patienceMs)} (--wait)` : '';
  let noted = '';
  return (what, message) => {
    if (message === noted) return;
    noted = message;
    const forWhat = what === null ? '' : ` for the ${what}`;
    note(`waiting${forWhat}${howLong}: ${printable(message)}`);
  };
}

/** What keeps a ledger from taking what was done: a job that ends for that reason can leave no note of it there. */
const diskCodes: ReadonlySet<string> = new Set(['diskFull', 'ledgerIoFails']);
const diskLookMs = 2_000;

/**
 * Says that work stands still for want of a disk, once for each cause. @param ask what keeps the work, if anything does.
 * @returns to be called again and again while nothing moves. Never throws.
 */
export function diskNotes(
  clock: Pick<Clock, 'monotonicMs'>,
  ask: () => Promise<{ readonly code: string; readonly message: string } | null | undefined>,
  say: ReturnType<typeof waitingNotes>,
): () => void {
  const said = new Set<string>();
  let askedAtMs = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const trouble = await ask();
    // How much is free may change from look to look.
    if (trouble === null || trouble === undefined || !diskCodes.has(trouble.code) || said.has(trouble.code)) return;
    said.add(trouble.code);
    say(null, `${trouble.message} [${trouble.code}]`);
  };
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - askedAtMs < diskLookMs) return;
    askedAtMs = nowMs;
    // Following itself reports what is wrong with the ledger.
    look().catch(() => undefined);
  };
}

/** The same of a ledger that is away, as `waitOut` calls it. */
export function ledgerNotes(note: (text: string) => void, patienceMs: number): (trouble: PatchbayError) => void {
  const say = waitingNotes(note, patienceMs);
  return ({ code, message }) => say('ledger', `${message} [${code}]`);
}
