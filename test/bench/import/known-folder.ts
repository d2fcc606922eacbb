/**
 * Data folders whose ledger knows the rows of a file: made once by the code that is measured, and copied for each round, so
 * that every round finds the same.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, open, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { benchFeed, type Checkout, commandEnv, runNode } from './processes.ts';

export interface History {
  /** Finished runs, each with so many open letters. */
  readonly runs: number;
  readonly lettersPerRun: number;
}

/**
 * A data folder of the checkout that knows the file. One that is there already, made by the same code, is kept.
 * @param name tells it from the other folders in `folder`; its file must always be the same.
 * @param history what was before; the run of the file then still waits for its end, as one that was stopped.
 */
export async function knownFolder(
  checkout: Checkout,
  folder: string,
  name: string,
  file: string,
  history: History | null = null,
): Promise<string> {
  const data = join(folder, `${checkout.name}-${name}`);
  const stamp = await codeStamp(checkout);
  const stampFile = join(data, 'made-by.txt');
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === stamp) return data;
  await rm(data, { recursive: true, force: true });
  // A feed with a folder owns what it writes.
  await mkdir(join(data, 'import', benchFeed), { recursive: true });
  const place = await packageOf(checkout, folder);
  const make = async (program: string, args: readonly string[]): Promise<void> => {
    const env = commandEnv(data, 'http://127.0.0.1:9');
    const { code, stdout } = await runNode([join(place, program), ...args], env, checkout.root);
    if (code !== 0) throw new Error(`the ledger was not made: ${code} ${stdout}`);
  };
  if (history !== null) await make('holds/seed-history.ts', [`${history.runs}`, `${history.lettersPerRun}`, benchFeed]);
  await make('import/known-ledger.ts', [file, benchFeed, history === null ? 'done' : 'stopped']);
  await writeFile(stampFile, stamp);
  return data;
}

/** Stages a file and settles each row of it, with a workspace in memory. @returns the seconds without the start of the process. */
export async function settleKnown(
  checkout: Checkout,
  folder: string,
  data: string,
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const place = await packageOf(checkout, folder);
  const args = [join(place, 'import/known-ledger.ts'), file, benchFeed, 'done'];
  const { code, stdout } = await runNode(args, { ...commandEnv(data, 'http://127.0.0.1:9'), ...env }, checkout.root);
  if (code !== 0) throw new Error(`the rows were not settled: ${code} ${stdout}`);
  return Number((JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { readonly seconds: number }).seconds);
}

/** A copy for one round, written to the disk, so that no round pays for that; the caller removes it. */
export async function copyOf(data: string): Promise<string> {
  const copy = `${data}-copy`;
  await rm(copy, { recursive: true, force: true });
  await cp(data, copy, { recursive: true });
  for (const entry of await readdir(copy, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    await using file = await open(join(entry.parentPath, entry.name), 'r+');
    await file.sync();
  }
  return copy;
}

/** A package with the checkout's modules and this checkout's seeding programs: nothing is written into the checkout. */
async function packageOf({ name, root }: Checkout, folder: string): Promise<string> {
  const place = join(folder, `package-${name}`);
  await rm(place, { recursive: true, force: true });
  await mkdir(place, { recursive: true });
  for (const part of ['src', 'jobs', 'config', 'node_modules', 'package.json'])
    await symlink(join(root, part), join(place, part));
  for (const program of ['import/known-ledger.ts', 'import/export-file.ts', 'holds/seed-history.ts'])
    await cp(join(import.meta.dirname, '..', program), join(place, program));
  return place;
}

/** Changes with whatever may change what the ledger holds. */
async function codeStamp({ root }: Checkout): Promise<string> {
  const hash = createHash('sha256');
  for (const part of ['ledger', 'mapping', 'contacts', 'runs', 'upsert', 'sources']) {
    const folder = join(root, 'src', part);
    for (const file of (await readdir(folder, { recursive: true })).sort()) {
      if (file.endsWith('.ts')) hash.update(file).update(await readFile(join(folder, file)));
    }
  }
  return hash.digest('hex');
}
