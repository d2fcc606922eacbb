/**
 * Boots the server with the data saved before, or without it.
 *
 * The queue is replaceable (design.md, decision 1): a dump that the server refuses must not keep the program from
 * starting. Invariant: a damaged dump is never deleted at first sight; it is moved aside, one of them is kept.
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bootValkeyInstance, type ValkeyInstance, type ValkeyInstanceOptions } from './valkey-instance.ts';

const dumpFile = 'dump.rdb';
const damagedDumpFile = 'dump.damaged.rdb';

export interface DumpBoot {
  readonly valkey: ValkeyInstance;
  /** Where the damaged dump is now, or null when there was none. */
  readonly damagedDump: string | null;
}

/** Throws only what stops a start with no data at all. */
export async function bootWithDump(options: ValkeyInstanceOptions): Promise<DumpBoot> {
  removeUnfinishedSaves(options.folder);
  try {
    return { valkey: await bootValkeyInstance(options), damagedDump: null };
  } catch (error) {
    const dump = join(options.folder, dumpFile);
    if (!existsSync(dump)) throw error;
    const damagedDump = join(options.folder, damagedDumpFile);
    rmSync(damagedDump, { recursive: true, force: true });
    renameSync(dump, damagedDump);
    return { valkey: await bootValkeyInstance(options), damagedDump };
  }
}

/** A save that a kill cut short leaves its half-written file behind. */
function removeUnfinishedSaves(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (/^temp-.*\.rdb$/.test(name)) rmSync(join(folder, name), { force: true });
  }
}
