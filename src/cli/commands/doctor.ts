/** `patchbay doctor`. */
import { checkQueue, checkQueueOfHosts } from '#src/engine/surroundings.ts';
import { PatchbayError } from '#src/errors.ts';
import { diagnose } from '#src/operations/doctor.ts';
import { type GlobalOptions, openToCheck } from '../open-home.ts';
import { createOutput, printable } from '../output.ts';

export async function doctor(options: GlobalOptions): Promise<number> {
  const output = createOutput(options);
  const { bare, ledger } = await openToCheck(options);
  try {
    const queue = await (ledger instanceof PatchbayError ? checkQueue(bare.config.queue) : checkQueueOfHosts(ledger));
    const { findings, windows, exitCode } = await diagnose(bare, ledger, queue);
    if (output.json) {
      const checks = findings.map(({ exitCode: _, ...finding }) => finding);
      output.document({ ok: exitCode === 0, checks, windows, exitCode });
      return exitCode;
    }
    for (const { check, ok, detail } of findings) {
      const mark = ok ? output.style('green', 'ok  ') : output.style('red', 'FAIL');
      output.line(`${mark} ${check.padEnd(12)} ${output.paste(printable(detail))}`);
    }
    output.line('Risks that no client can rule out:');
    for (const window of windows) output.line(`  - ${window}`);
    return exitCode;
  } finally {
    if (!(ledger instanceof PatchbayError)) await ledger.close();
  }
}
