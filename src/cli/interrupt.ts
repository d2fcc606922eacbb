/**
 * Ctrl-C: the first one finishes the requests on their way, the second one leaves (`contract.md`, "Commands").
 */
import { exitCodes } from '#src/runs/exit-code.ts';

export interface Interrupt {
  readonly signal: AbortSignal;
  /** 130 or 143 after the first signal; null before. */
  exitCode(): number | null;
  /** Resolves at the first signal. */
  readonly received: Promise<void>;
  dispose(): void;
}

export function listenForInterrupt(onFirst: () => void): Interrupt {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  let code: number | null = null;
  const handle = (signal: 'SIGINT' | 'SIGTERM'): void => {
    if (code !== null) process.exit(code);
    code = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    onFirst();
    controller.abort();
    resolve();
  };
  const onInterrupt = (): void => handle('SIGINT');
  const onTerminate = (): void => handle('SIGTERM');
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  return {
    signal: controller.signal,
    exitCode: () => code,
    received: promise,
    dispose: () => {
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onTerminate);
    },
  };
}
