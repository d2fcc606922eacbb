/** A run by what a person typed. */
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';

/** By its id, or the end of it. @throws PatchbayError `usage` `noSuchRun`. */
export async function findRun(home: Pick<Home, 'ledger'>, id: string): Promise<RunRecord> {
  const exact = await home.ledger.runs.get(id);
  if (exact !== null) return exact;
  const fitting = (await home.ledger.runs.list({ limit: 1_000 })).filter(
    (run) => run.id.endsWith(id) && id.length >= 4,
  );
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  throw new PatchbayError('usage', 'noSuchRun', `there is no run ${id}`, {
    hint: 'See the runs with: patchbay runs ls',
  });
}
