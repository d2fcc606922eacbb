/** The reserved folders within an import folder (`contract.md`, "Data folder"). Pure: makes no folder. */
import { join } from 'node:path';

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
