/** `patchbay ledger`: whether the ledger is sound, and a backup of it. Neither needs an engine, nor that none runs. */
import { resolve } from 'node:path';
import { findLedgerFile } from '#src/app.ts';
import type { GlobalOptions } from '#src/cli/open-home.ts';
import { PatchbayError } from '#src/errors.ts';
import { backUpLedger } from '#src/ledger/sqlite/back-up.ts';
import { checkLedger, type LedgerCheck, type LedgerState } from '#src/ledger/sqlite/check.ts';
import { ledgerDamaged, liftMark, markDamaged } from '#src/ledger/sqlite/damage.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { loadCliConfig } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';

const exitCodeOfState: Record<LedgerState, number> = {
  sound: exitCodes.done,
  damaged: exitCodes.unexpected,
  inconsistent: exitCodes.dead,
};

const hintOfState: Record<LedgerState, string | null> = {
  sound: null,
  damaged: ledgerDamaged('', '').hint,
  inconsistent: 'It can be read, and work goes on. Keep a copy of the file, and report this with the lines above.',
};

/** Damage that is found here stops all work on the ledger, as damage that is met anywhere; a sound one is free again. */
export async function checkTheLedger(options: GlobalOptions): Promise<number> {
  const output = createOutput(options);
  const file = await ledgerOf(options);
  const check = checkLedger(file);
  if (check.state === 'damaged') markDamaged(file, ledgerDamaged(file, check.findings[0]?.message ?? ''));
  else liftMark(file);
  tell(output, check, { what: `ledger ${file}` });
  return exitCodeOfState[check.state];
}

export async function backUpTheLedger(options: GlobalOptions, target: string): Promise<number> {
  const output = createOutput(options);
  const file = await ledgerOf(options);
  const check = await backUp(file, resolve(target));
  tell(output, check, { what: `backup ${check.file}`, ledger: file });
  return exitCodeOfState[check.state];
}

async function backUp(file: string, target: string): Promise<LedgerCheck> {
  try {
    return await backUpLedger(file, target);
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'damaged') markDamaged(file, error);
    throw error;
  }
}

async function ledgerOf(options: GlobalOptions): Promise<string> {
  const { config } = await loadCliConfig(options);
  return findLedgerFile(config, options.sandbox === true);
}

function tell(output: Output, check: LedgerCheck, { what, ledger }: { what: string; ledger?: string }): void {
  const { file, bytes, schema, state, findings, notes } = check;
  const hint = hintOfState[state];
  if (output.json) {
    const origin = ledger === undefined ? {} : { ledger };
    output.document({ file, ...origin, bytes, schema, state, findings, notes, hint, exitCode: exitCodeOfState[state] });
    return;
  }
  const colour = state === 'sound' ? 'green' : 'red';
  output.line(`${printable(what)}, ${(bytes / 1e6).toFixed(1)} MB: ${output.style(colour, state)}`);
  for (const { check: name, message } of findings) output.line(`  ${name.padEnd(10)} ${printable(message)}`);
  for (const { check: name, message } of notes)
    output.line(`  ${name.padEnd(10)} ${printable(message)} (worth a look)`);
  if (hint !== null) output.line(`  ${hint}`);
}
