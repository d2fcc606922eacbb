/** Puts a kept ledger of an older version into a journey, with the files that it took and the contacts that its service held. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import type { Journey } from '#test/support/journey.ts';
import type { JourneyService } from '#test/support/journey-service.ts';
import type { Ended } from '#test/support/patchbay-process.ts';
import { oldConfig, oldFiles } from './left-open.ts';

const kept = (schema: number, name: string): string => join(import.meta.dirname, `schema-${schema}.${name}`);

export interface OldLedger {
  readonly service: JourneyService;
  /** The run that a guard stopped. */
  readonly stopped: string;
  /** The plan of `later.csv`; null where that version made none. */
  readonly planId: string | null;
  /** Carries out a command with the configuration that the ledger was written with. */
  call(...args: readonly string[]): Promise<Ended>;
  /** The path of one of the files. */
  path(name: keyof typeof oldFiles): string;
}

export async function openOldLedger(journey: Journey, schema: number): Promise<OldLedger> {
  const service = await journey.service([], undefined, kept(schema, 'workspace.ndjson'));
  const env = { PATCHBAY_CONFIG: journey.file('patchbay.yaml', oldConfig) };
  const folder = dirname(journey.data);
  for (const [name, content] of Object.entries(oldFiles)) journey.file(name, content);
  mkdirSync(join(folder, 'drop'));
  mkdirSync(journey.data);
  const file = join(journey.data, 'ledger.sqlite');
  const text = readFileSync(kept(schema, 'sql'), 'utf8');
  // The rows of a table may stand before those that they refer to.
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  db.exec(text.replaceAll('{{folder}}', folder).replaceAll('{{service}}', service.origin));
  await openSqliteLedger(file).close();
  // The first design did not keep how long a write may stay in doubt: a minute counts, which no test should wait.
  db.exec('UPDATE flights SET horizon_span = 1000 WHERE horizon_span IS NOT NULL');
  for (const { file_name, claimed_path } of db.prepare('SELECT file_name, claimed_path FROM runs').all()) {
    const path = String(claimed_path);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, oldFiles[file_name as keyof typeof oldFiles]);
  }
  const stopped = db.prepare("SELECT id FROM runs WHERE state = 'stopped'").get();
  const planId = schema < firstWithPlans ? null : String(db.prepare(planOfFile).get()?.id);
  db.close();
  return {
    ...{ service, stopped: String(stopped?.id), planId },
    call: (...args) => journey.call(args, env),
    path: (name) => join(folder, name),
  };
}

const firstWithPlans = 8;
const planOfFile = "SELECT id FROM records WHERE kind = 'plan' AND document ->> '$.plan.path' IS NOT NULL";
