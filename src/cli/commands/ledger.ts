/** `patchbay ledger check|backup|copy`. */

import { SingleBar } from 'cli-progress';
import { findMode, ledgerPlace, personAtCommand } from '#src/app.ts';
import type { ServiceMode } from '#src/config/schema.ts';
import type { CopyProgress } from '#src/ledger/copy/copy-ledger.ts';
import { type LedgerPlace, nameOfPlace } from '#src/ledger/place.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { type CopyReport, copyTheLedger as copy } from '#src/operations/copy-ledger.ts';
import { backUpTheLedgerAt, checkTheLedgerAt, type LedgerReport } from '#src/operations/ledger.ts';
import { listenForInterrupt, reportInterrupted, withoutCatching } from '../interrupt.ts';
import { type GlobalOptions, loadCliConfig } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';

export async function checkTheLedger(options: GlobalOptions): Promise<number> {
  const { place, mode } = await placeOf(options);
  // A large file is read for minutes, by one statement.
  const report = await withoutCatching(() => checkTheLedgerAt(place, mode));
  return print(createOutput(options), report, `ledger ${await nameOfPlace(place)}`, {});
}

export async function backUpTheLedger(options: GlobalOptions, target: string): Promise<number> {
  const { place, mode } = await placeOf(options);
  const report = await withoutCatching(() => backUpTheLedgerAt(place, mode, target));
  return print(createOutput(options), report, `backup ${report.file}`, { ledger: await nameOfPlace(place) });
}

export async function copyTheLedger(options: GlobalOptions & { readonly to: string }): Promise<number> {
  const output = createOutput(options);
  const { config } = await loadCliConfig(options);
  const mode = await findMode(config, options.sandbox === true);
  const interrupt = listenForInterrupt(() => undefined);
  const bar = process.stderr.isTTY === true && !output.quiet && !output.json ? createBar() : null;
  try {
    const report = await copy({
      config,
      mode,
      actor: personAtCommand(),
      to: options.to,
      onProgress: (progress) => bar?.show(progress),
      signal: interrupt.signal,
    });
    bar?.stop();
    return printCopy(output, report);
  } catch (error) {
    bar?.stop();
    const code = interrupt.exitCode();
    if (code === null || error !== interrupt.signal.reason) throw error;
    return reportInterrupted(output, 'interrupted: nothing was left at the target', code);
  } finally {
    interrupt.dispose();
  }
}

function createBar(): { show(progress: CopyProgress): void; stop(): void } {
  const bar = new SingleBar({
    ...{ format: '{phase} {bar} {value}/{total} rows', stream: process.stderr, barsize: 30 },
    ...{ clearOnComplete: true, hideCursor: true },
  });
  let isStarted = false;
  return {
    show: ({ phase, done, total }) => {
      // Each row counts twice: once copied, once compared.
      if (!isStarted) bar.start(total, 0, { phase });
      isStarted = true;
      bar.update(done, { phase });
    },
    stop: () => bar.stop(),
  };
}

/** Exported for tests: what to do with a copy. */
export function adviceOnCopy({ target, to, instead }: Pick<CopyReport, 'target' | 'to' | 'instead'>): string {
  const alone = 'work on both would not know of each other.';
  if (target === 'database') return `Set DATABASE_URL to it from now on, and leave the file alone: ${alone}`;
  if (instead === null) return `Work on it without DATABASE_URL from now on, and leave the database alone: ${alone}`;
  return `Without DATABASE_URL, commands use ${instead}. With everything stopped, move that file away, if it is there, together with -wal and -shm beside it, and put ${to} in place of it. Then leave the database alone: ${alone}`;
}

function printCopy(output: Output, { target, instead, ...report }: CopyReport): number {
  const hint = adviceOnCopy({ target, instead, to: report.to });
  if (output.json) {
    output.document({ ...report, hint, exitCode: 0 });
    return 0;
  }
  output.line(`ledger ${printable(report.from)} → ${printable(report.to)}: copied`);
  output.line(
    `  ${counted(report.rows, 'row')} in ${counted(report.tables.length, 'table')}, equal by number and checksum, in ${report.seconds} s`,
  );
  output.note(`  ${hint}`);
  return 0;
}

/** The ledger that `openHome` with `look` would open. It is not opened here, since it may be damaged. */
async function placeOf(options: GlobalOptions): Promise<{ readonly place: LedgerPlace; readonly mode: ServiceMode }> {
  const { config } = await loadCliConfig(options);
  const mode = await findMode(config, options.sandbox === true);
  return { place: ledgerPlace(config, mode), mode };
}

function print(output: Output, report: LedgerReport, what: string, origin: { readonly ledger?: string }): number {
  const { file, bytes, schema, state, findings, notes, hint, exitCode } = report;
  if (output.json) {
    output.document({ file, ...origin, bytes, schema, state, findings, notes, hint, exitCode });
    return exitCode;
  }
  const colour = state === 'sound' ? 'green' : 'red';
  output.line(`${printable(what)}, ${(bytes / 1e6).toFixed(1)} MB: ${output.style(colour, state)}`);
  for (const { check, message } of findings) output.line(`  ${check.padEnd(10)} ${printable(message)}`);
  for (const { check, message } of notes) output.line(`  ${check.padEnd(10)} ${printable(message)} (worth a look)`);
  if (hint !== null) output.line(output.paste(`  ${hint}`));
  return exitCode;
}
