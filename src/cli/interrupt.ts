/**
 * Ctrl-C: the first one finishes the requests on their way, the second one leaves (`contract.md`, "Commands").
 */
import { readFileSync } from 'node:fs';
import { exitCodes } from '#src/runs/exit-code.ts';

/** Requests end within 15 s, and a stop waits 20 s for its jobs: what is still there then hangs. */
const patienceMs = 45_000;

export interface Interrupt {
  readonly signal: AbortSignal;
  /** 130, 143 or 129 after the first signal; null before. */
  exitCode(): number | null;
  /** Resolves at the first signal. */
  readonly received: Promise<void>;
  dispose(): void;
}

export interface InterruptOptions {
  /** A terminal that closes (SIGHUP) interrupts, too. Not under `nohup`, which asks to be left alone. Default: false. */
  readonly hangUp?: boolean;
}

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const codes: Readonly<Record<Signal, number>> = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hungUp,
};

export function listenForInterrupt(onFirst: () => void, { hangUp = false }: InterruptOptions = {}): Interrupt {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  let code: number | null = null;
  let watchdog: NodeJS.Timeout | undefined;
  const handle = (signal: Signal): void => {
    if (code !== null) process.exit(code);
    code = codes[signal];
    onFirst();
    controller.abort();
    resolve();
    watchdog = setTimeout(() => {
      process.stderr.write('patchbay: could not stop in time and leaves now; nothing is lost, the ledger knows all\n');
      process.exit(codes[signal]);
    }, patienceMs).unref();
  };
  const signals: readonly Signal[] = [
    'SIGINT',
    'SIGTERM',
    ...(hangUp && !isHangUpIgnored() ? ['SIGHUP' as const] : []),
  ];
  for (const signal of signals) process.on(signal, handle);
  return {
    signal: controller.signal,
    exitCode: () => code,
    received: promise,
    dispose: () => {
      clearTimeout(watchdog);
      for (const signal of signals) process.off(signal, handle);
    },
  };
}

/** Node would take a handler for more than the wish to ignore. Where the system does not tell, nobody ignores it. */
function isHangUpIgnored(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0';
    return (BigInt(`0x${mask}`) & 1n) === 1n;
  } catch {
    return false;
  }
}
