/**
 * What the engine does at its sweeps, each thing at its own pace. One that fails keeps none of the others from being done.
 */
export interface Duty {
  /** 1: at every sweep. The first sweep does all. */
  readonly everySweeps: number;
  /** The signal ends the sweep. */
  carryOut(signal: AbortSignal): Promise<unknown>;
}

/** @returns one sweep. It rejects with the first failure, after all that was due has been tried. */
export function createDuties(duties: readonly Duty[]): (signal: AbortSignal) => Promise<void> {
  let sweepCount = 0;
  return async (signal) => {
    const due = duties.filter(({ everySweeps }) => sweepCount % everySweeps === 0);
    sweepCount += 1;
    const failures: unknown[] = [];
    for (const duty of due) {
      if (signal.aborted) break;
      await duty.carryOut(signal).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
}
