/** `patchbay ledger check|backup`. */
import { findLedgerFile } from '#src/app.ts';
import { backUpLedgerFile, checkLedgerFile, type LedgerReport } from '#src/operations/ledger.ts';
import { type GlobalOptions, loadCliConfig } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';

export async function checkTheLedger(options: GlobalOptions): Promise<number> {
  const file = await ledgerOf(options);
  return print(createOutput(options), checkLedgerFile(file), `ledger ${file}`, {});
}

export async function backUpTheLedger(options: GlobalOptions, target: string): Promise<number> {
  const ledger = await ledgerOf(options);
  const report = await backUpLedgerFile(ledger, target);
  return print(createOutput(options), report, `backup ${report.file}`, { ledger });
}

async function ledgerOf(options: GlobalOptions): Promise<string> {
  const { config } = await loadCliConfig(options);
  return findLedgerFile(config, options.sandbox === true);
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
