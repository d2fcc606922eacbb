/** Opens a new store that is filled from a workspace file. */
import type { Readable } from 'node:stream';
import type { Clock } from '#src/clock.ts';
import { buildStore } from '../store/build-store.ts';
import type { Store, StoreTables } from '../store/open-store.ts';
import { loadWorkspace } from './load-workspace.ts';
import type { SectionCounts } from './sections.ts';
import { openWorkspaceSource } from './workspace-source.ts';

export interface WorkspaceFileToLoad {
  /** A path, or `-` for `stdin`. */
  readonly file: string;
  readonly stdin: () => Readable;
  /** Ends the loading; nothing is kept. */
  readonly signal?: AbortSignal;
}

/**
 * `path` is a file that is not there yet, or `:memory:`. Throws `usage` errors: `storeNotNew`, `storeNotWritten`,
 * `workspaceFileUnreadable`, `workspaceFileMalformed`, `workspaceFileInvalid`, `workspaceFileNewer`,
 * `workspaceFileChanged`; the signal's reason when it fires; and what `beforePublish` throws: see `buildStore`.
 */
export async function openLoadedStore(
  path: string,
  { file, stdin, signal }: WorkspaceFileToLoad,
  clock: Clock,
  beforePublish: () => Promise<void>,
): Promise<{ readonly store: Store; readonly loaded: SectionCounts }> {
  const source = await openWorkspaceSource(file, stdin);
  const fill = (tables: StoreTables) => loadWorkspace(source, tables, { clock, signal });
  const { store, filled } = await buildStore(path, fill, beforePublish);
  return { store, loaded: filled.counts };
}
