/**
 * Ctrl-C: the first one finishes the requests under way, the second one leaves (`docs/contract.md`, "Commands"). So does a terminal
 * that closes (SIGHUP), once or several times; not under `nohup`, which asks to be left alone.
 *
 * `kill` on `npm start` counts as well. npm passes the signal to the shell between it and us, which dies of it and does not pass
 * it on: so a process that npm started interrupts itself when its parent is gone.
 *
 * Invariant: from the first moment of `main` on a signal is never lost, and never ends the process without a word where nothing was
 * printed yet: it goes to the work that listens; where none does, the process ends at once.
 */
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ErrorDocument } from '#src/operations/error-document.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { handleBrokenStdout, type Output } from './output.ts';

/** Requests end within 15 s, and a stop waits 20 s for its jobs: what is still there then hangs. */
const patienceMs = 45_000;
const parentLookEveryMs = 250;

export interface Interrupt {
  readonly signal: AbortSignal;
  /** 130, 143 or 129 after the first signal; null before. */
  exitCode(): number | null;
  /** Resolves at the first signal. */
  readonly received: Promise<void>;
  dispose(): void;
}

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const allSignals: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const codes: Readonly<Record<Signal, number>> = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hungUp,
};

/** The work that listens: the newest one takes the signal. */
const listening: ((signal: Signal) => void)[] = [];
/** What the process does where no work listens. */
let atRest: ((exitCode: number) => void) | null = null;
let isCaught = false;

/** From now on signals go to the work that listens. @param leave ends the process where none does; called once for each signal. */
export function catchSignals(leave: (exitCode: number) => void): void {
  atRest = leave;
  catchAll();
}

function catchAll(): void {
  if (isCaught) return;
  isCaught = true;
  for (const signal of allSignals) process.on(signal, passOn);
}

/** Meanwhile a signal ends the process at once, also while its thread is held: for long work that may be cut anywhere. */
export async function withoutCatching<Result>(work: () => Promise<Result>): Promise<Result> {
  const left = allSignals.filter((signal) => isCaught && !(signal === 'SIGHUP' && isUnderNohup));
  for (const signal of left) process.off(signal, passOn);
  try {
    return await work();
  } finally {
    for (const signal of left) process.on(signal, passOn);
  }
}

let hasHungUp = false;

function passOn(signal: Signal): void {
  hasHungUp ||= signal === 'SIGHUP';
  const listener = listening.at(-1);
  if (listener !== undefined) {
    listener(signal);
    return;
  }
  if (signal === 'SIGHUP') {
    forgetTerminal();
    if (isUnderNohup) return;
  }
  atRest?.(codes[signal]);
  process.exit(codes[signal]);
}

/**
 * A signal that came while the thread was held arrives with the next look at the system. The turn at hand may have had its look, so
 * that it takes two.
 */
export async function letSignalsArrive(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/**
 * @param onFirst called at the first signal.
 * @param onLeave called before the process leaves with this code at the second one, or since it could not stop in time: for what can be said
 *   without waiting. Default: what the process says where no work listens.
 */
export function listenForInterrupt(
  onFirst: () => void,
  onLeave: (exitCode: number) => void = (exitCode) => atRest?.(exitCode),
): Interrupt {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  let code: number | null = null;
  let watchdog: NodeJS.Timeout | undefined;
  const handle = (signal: Signal): void => {
    if (signal === 'SIGHUP') {
      forgetTerminal();
      // The system and the shell both say that the terminal is gone.
      if (code !== null || isUnderNohup) return;
    }
    if (code !== null) {
      onLeave(code);
      process.exit(code);
    }
    code = codes[signal];
    onFirst();
    controller.abort();
    resolve();
    watchdog = setTimeout(() => {
      process.stderr.write(
        'patchbay: could not stop in time and leaves now; nothing is lost, the ledger holds all work that is left\n',
      );
      onLeave(codes[signal]);
      process.exit(codes[signal]);
    }, patienceMs).unref();
  };
  catchAll();
  listening.push(handle);
  const parent = watchParent(() => {
    if (code === null) handle('SIGTERM');
  });
  return {
    signal: controller.signal,
    exitCode: () => code,
    received: promise,
    dispose: () => {
      clearTimeout(watchdog);
      clearInterval(parent);
      const place = listening.indexOf(handle);
      if (place >= 0) listening.splice(place, 1);
    },
  };
}

/** Scripts that stay until what they started has ended. Others may start something and leave it behind on purpose. */
const stayingScripts: ReadonlySet<string | undefined> = new Set(['start', 'npx']);

function watchParent(onGone: () => void): NodeJS.Timeout | undefined {
  if (!stayingScripts.has(process.env.npm_lifecycle_event)) return undefined;
  const { ppid } = process;
  return setInterval(async () => {
    if (process.ppid === ppid) return;
    // A hang-up ends npm and npx, under nohup, too, and is not meant for what they started. It may come after their end is seen.
    await letSignalsArrive();
    if (!(isUnderNohup && hasHungUp)) onGone();
  }, parentLookEveryMs).unref();
}

/** npm, the shell of its script, and perhaps one more. */
const ancestorsMax = 3;

/**
 * Whether the command was started by `nohup`, or by a script that was. Node forgets at its start that SIGHUP was ignored, so that
 * others have to say it: the shell, which names the command that it started, or the process that started this one. npm and npx are
 * programs of Node, too: their own environment tells what they were started by.
 */
const isUnderNohup: boolean = wasStartedByNohup();

function wasStartedByNohup(): boolean {
  if (isNohup(process.env._) || ignoresHangUp(process.ppid)) return true;
  // Between npm and this process there is the shell of its script.
  let pid = process.ppid;
  for (let up = 0; up < ancestorsMax; up += 1) {
    const known = ancestor(pid);
    if (known === null) return false;
    if (known.isNpm) return isNohup(known.startedAs) || ignoresHangUp(known.parent);
    pid = known.parent;
  }
  return false;
}

function isNohup(command: string | undefined): boolean {
  return command?.split('/').at(-1) === 'nohup';
}

function ignoresHangUp(pid: number): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readOf(pid, 'status') ?? '')?.[1] ?? '0';
  return (BigInt(`0x${mask}`) & 1n) === 1n;
}

/** Null where the system does not say, or it is another user's. */
function ancestor(
  pid: number,
): { readonly parent: number; readonly isNpm: boolean; readonly startedAs: string | undefined } | null {
  const status = readOf(pid, 'status');
  const parent = Number(/^PPid:\s*(\d+)$/m.exec(status ?? '')?.[1] ?? 0);
  if (parent === 0) return null;
  const isNpm = /^Name:\s*(?:npm|npx|node)\b/m.test(status ?? '');
  const startedAs = readOf(pid, 'environ')
    ?.split('\0')
    .find((one) => one.startsWith('_='))
    ?.slice(2);
  return { parent, isNpm, startedAs };
}

function readOf(pid: number, what: 'status' | 'environ'): string | null {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'latin1');
  } catch {
    return null;
  }
}

/** What is written to it from now on fails, and must not end the process before its work is put away. */
function forgetTerminal(): void {
  handleBrokenStdout();
}

/** The exit code of a command that Ctrl-C ends as its user means it to: 0 then, and 129 or 143 after another signal. */
export function endedByCtrlC(interrupt: Pick<Interrupt, 'exitCode'>): number {
  const code = interrupt.exitCode();
  return code === null || code === exitCodes.interrupted ? 0 : code;
}

/** What a command says at the first signal while requests are under way. */
export const finishingText = 'patchbay: finishing the requests under way; press Ctrl-C again to leave at once';

/** The command was interrupted before it entered its work: no engine knows of it. */
export class NothingEntered extends Error {}

/** What a script is told to do where a command had not entered its work. */
export const nothingBegunHint = 'Nothing was begun. Run the same command again.';

/**
 * Prints that a command was interrupted and what that means.
 * @param whatNext what becomes of its work, once that is entered.
 * @param cause what was thrown.
 * @param nextStep what to do, for the JSON document.
 * @returns the exit code.
 */
export function reportInterrupted(
  output: Output,
  whatNext: string,
  exitCode: number,
  cause?: unknown,
  nextStep: string | null = null,
): number {
  const isNothingEntered = cause instanceof NothingEntered;
  const message = isNothingEntered ? 'interrupted before the work was entered' : whatNext;
  const hint = isNothingEntered ? nothingBegunHint : nextStep;
  const document: ErrorDocument = { error: { code: 'interrupted', message, hint }, exitCode };
  if (output.json) output.document(document);
  else output.note(message);
  return exitCode;
}
