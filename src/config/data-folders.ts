/**
 * Where everything lies in the data folder (`contract.md`, "Data folder"). Pure: makes no folder.
 *
 * The sandbox has a data folder of its own within the data folder, so that what was tried there never mixes with the
 * real service (`rules.md`, "Workspace, feed, key").
 */
import { join, resolve } from 'node:path';
import type { Config, ServiceMode } from './schema.ts';

/** All paths are absolute. */
export interface DataFolders {
  /** The data folder; for the sandbox its subfolder `sandbox`. */
  readonly root: string;
  /** Folders to drop files into, at least one. Archives lie in the folder a file was dropped into. */
  readonly importFolders: readonly string[];
  /** Files that a run has claimed and not yet archived. */
  readonly claimed: string;
  readonly reports: string;
  /** A file per snapshot of the phone numbers. */
  readonly phoneNumberSnapshots: string;
  readonly logs: string;
  /** What the embedded queue keeps. */
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
  const folders: DataFolders = {
    root,
    importFolders: importFolders(config.data.importFolder, data, root),
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

/** In the sandbox the data folder's own `import` counts too: that is where a newcomer drops the first file. */
function importFolders(explicit: string | null, data: string, root: string): readonly string[] {
  if (explicit !== null) return [resolve(explicit)];
  return root === data ? [join(data, 'import')] : [join(root, 'import'), join(data, 'import')];
}

/** The reserved folders within an import folder (`contract.md`, "Data folder"). Pure: makes no folder. */
export interface ArchiveFolders {
  /** Archived originals and what became of them. */
  readonly done: string;
  /** Files that could not be read at all, and why. */
  readonly failed: string;
  /** Rows to fix and drop in again. */
  readonly fix: string;
  /** Why a file waits for an approval, and what to type. */
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
