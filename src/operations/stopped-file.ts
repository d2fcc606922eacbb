/**
 * The file of a stopped run, which only a restage reads again. It may be gone while its rows wait for an approval: with the disk of a host
 * that was given up, or deleted by hand.
 */
import { PatchbayError } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { openSourceFile } from '#src/sources/source-file.ts';

type FileOfRun = Pick<RunRecord, 'claimedPath' | 'fileName'>;

/** Why it cannot be read, or null. @throws the system's errors. */
export async function whyUnreadable({ claimedPath, fileName }: FileOfRun): Promise<PatchbayError | null> {
  try {
    await (await openSourceFile(claimedPath, fileName)).close();
    return null;
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'file') return error;
    throw error;
  }
}

/**
 * The run with the advice that can be followed here: what stopped it was written down while its file was there, and a restage is one of the
 * things to do. What is on another host cannot be seen.
 * @param here the host that this data folder is, or null.
 */
export async function withoutVainRestage(run: RunRecord, here: string | null): Promise<RunRecord> {
  const { state, reason, host } = run;
  const lines = reason?.hint?.split('\n') ?? [];
  const others = lines.filter((line) => !/\bruns restage\b/.test(line));
  if (reason === null || state !== 'stopped' || others.length === lines.length) return run;
  if (host !== here || (await whyUnreadable(run)) === null) return run;
  return { ...run, reason: { ...reason, hint: others.join('\n') } };
}
