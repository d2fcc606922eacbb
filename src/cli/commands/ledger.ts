/** `patchbay ledger check|backup`. */
import { findLedger } from '#src/app.ts';
import { type LedgerPlace, nameOfPlace } from '#src/ledger/place.ts';
import { backUpTheLedgerAt, checkTheLedgerAt, type LedgerReport } from '#src/operations/ledger.ts';
import { type GlobalOptions, loadCliConfig } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';

export async function checkTheLedger(options: GlobalOptions): Promise<number> {
  const place = await placeOf(options);
  return print(createOutput(options), await checkTheLedgerAt(place), `ledger ${await nameOfPlace(place)}`, {});
}

export async function backUpTheLedger(options: GlobalOptions, target: string): Promise<number> {
  const place = await placeOf(options);
  const report = await backUpTheLedgerAt(place, target);
  return print(createOutput(options), report, `backup ${report.file}`, { ledger: await nameOfPlace(place) });
}

async function placeOf(options: GlobalOptions): Promise<LedgerPlace> {
  const { config } = await loadCliConfig(options);
  return await findLedger(config, options.sandbox === true);
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
