/** Opens the data folder for a command that works: a ledger that is away is waited for. Commands that only look end at once. */
import type { Home } from '#src/app.ts';
import { systemClock } from '#src/clock.ts';
import { isLedgerAway } from '#src/ledger/trouble.ts';
import { waitOut } from '#src/ledger/wait-out.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { listenForInterrupt, reportInterrupted } from './interrupt.ts';
import { type GlobalOptions, type HomeUse, homeOpener } from './open-home.ts';
import { createOutput } from './output.ts';
import { ledgerNotes } from './waiting.ts';

/**
 * `openCliHome`, again and again while the ledger is away. A signal meanwhile ends the process, since nothing has begun.
 * @throws PatchbayError as `openCliHome`; `transient` `ledgerAway` and its like when patience is over.
 */
export async function openPatiently(options: GlobalOptions, use: HomeUse, patienceMs: number): Promise<Home> {
  const output = createOutput(options);
  const interrupt = listenForInterrupt(() => undefined);
  const { signal } = interrupt;
  const patience = { clock: systemClock(), patienceMs, signal, onWait: ledgerNotes(output.note, patienceMs) };
  try {
    const home = await waitOut(patience, await homeOpener(options, use), isLedgerAway);
    if (!signal.aborted) return home;
    await home.close();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    interrupt.dispose();
  }
  const message = 'interrupted while waiting for the ledger; nothing was begun';
  process.exit(reportInterrupted(output, message, interrupt.exitCode() ?? exitCodes.interrupted));
}
