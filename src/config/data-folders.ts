/**
 * The places in the data folder and in an import folder (`docs/contract.md`, "Data folder"). Pure: makes no folder.
 *
 * The sandbox has a data folder of its own within the data folder, so that trials never mix with the real service (`docs/rules.md`,
 * "Workspace, feed, key").
 */
import { join, resolve } from 'node:path';
import type { Config, ServiceMode } from './schema.ts';

/** All paths are absolute. */
export interface DataFolders {
  /** The data folder; for the sandbox its subfolder `sandbox`. */
  readonly root: string;
  /** Import folders, at least one: with mappings of feeds and with archives. A file is archived in the one it was dropped into. */
  readonly importFolders: readonly string[];
  /** Those from which files are taken, at least one: the folders to drop files into. */
  readonly watched: readonly string[];
  /** Files that a run has checked out and not yet archived. */
  readonly claimed: string;
  readonly reports: string;
  /** A file per snapshot of the phone numbers. */
  readonly phoneNumberSnapshots: string;
  readonly logs: string;
  /** The data of the embedded queue. */
  readonly queue: string;
  readonly ledgerFile: string;
  /** Locked by the one engine of this folder. */
  readonly lockFile: string;
}

/** The sandbox's folders, with those of its embedded service. */
export interface SandboxFolders extends DataFolders {
  /** The SQLite file of the embedded service. */
  readonly serviceStore: string;
  /** The file that holds the embedded service's key. */
  readonly sandboxKeyFile: string;
}

export function dataFolders(config: Config, mode: 'sandbox'): SandboxFolders;
export function dataFolders(config: Config, mode: ServiceMode): DataFolders;
export function dataFolders(config: Config, mode: ServiceMode): DataFolders | SandboxFolders {
  const data = resolve(config.data.folder);
  const root = mode === 'sandbox' ? join(data, 'sandbox') : data;
  const all = importFolders(config.data.importFolder, data, root);
  const folders: DataFolders = {
    root,
    importFolders: all,
    watched: all,
    claimed: join(root, 'claimed'),
    reports: join(root, 'reports'),
    phoneNumberSnapshots: join(root, 'snapshots', 'phone-numbers'),
    logs: join(root, 'logs'),
    queue: join(root, 'queue'),
    ledgerFile: join(root, 'ledger.sqlite'),
    lockFile: join(root, 'engine.lock'),
  };
  if (mode === 'real') return folders;
  return { ...folders, serviceStore: join(root, 'service.sqlite'), sandboxKeyFile: join(root, 'service.key') };
}

/** The sandbox's where a real service has this data folder, too: files that were dropped for that are no business of the sandbox. */
export function besideRealService(folders: DataFolders): DataFolders {
  const own = join(folders.root, 'import');
  return { ...folders, importFolders: [own, ...folders.importFolders.filter((one) => one !== own)], watched: [own] };
}

/** The sandbox also watches the data folder's own `import`, since a first file is likely to be dropped there. */
function importFolders(explicit: string | null, data: string, root: string): readonly string[] {
  if (explicit !== null) return [resolve(explicit)];
  return root === data ? [join(data, 'import')] : [join(root, 'import'), join(data, 'import')];
}

/** The reserved folders within an import folder. */
export interface ArchiveFolders {
  /** Archived originals and their results. */
  readonly done: string;
  /** Files that could not be read at all, and why. */
  readonly failed: string;
  /** Rows to fix and to drop in again. */
  readonly fix: string;
  /** Why a file waits for approval, and the command for it. */
  readonly stopped: string;
}

export function archiveFolders(importFolder: string): ArchiveFolders {
  return {
    done: join(importFolder, '_done'),
    failed: join(importFolder, '_failed'),
    fix: join(importFolder, '_fix'),
    stopped: join(importFolder, '_stopped'),
  };
}
