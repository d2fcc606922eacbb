/** What the sweeps remember of each entry of the import folder: a few words per file, forgotten with it. */
import { restMs } from '#src/sources/stability.ts';

const pauseMinMs = 2_000;
const pauseMaxMs = 300_000;

export interface KnownFile {
  /** `moving` until it was at rest, then `handed` over; it moves again when it changes. */
  state: 'moving' | 'handed';
  fingerprint: string;
  /** Monotonic: since when the fingerprint is the same. */
  sinceMs: number;
  /** Monotonic: not looked at before. */
  retryAtMs: number;
  pauseMs: number;
  /** What was last said about it. */
  told: string;
  sweep: number;
}

export interface KnownFiles {
  beginSweep(): void;
  /** The entry's memory, made at first sight. */
  seen(id: string): KnownFile;
  /** Notes this look; true where the file is at rest and was not handed over as it is. */
  isAtRest(file: KnownFile, fingerprint: string, nowMs: number): boolean;
  handedOver(file: KnownFile): void;
  /** Leaves the entry alone for a while: 2 s, then twice as long each time, up to 5 minutes. */
  backOff(file: KnownFile, nowMs: number): void;
  forgetUnseen(): void;
}

export function createKnownFiles(): KnownFiles {
  const files = new Map<string, KnownFile>();
  let sweep = 0;
  return {
    beginSweep: () => {
      sweep++;
    },
    seen: (id) => {
      const file = files.get(id) ?? freshFile();
      file.sweep = sweep;
      files.set(id, file);
      return file;
    },
    isAtRest: (file, fingerprint, nowMs) => {
      if (file.fingerprint !== fingerprint) {
        Object.assign(file, { state: 'moving', fingerprint, sinceMs: nowMs });
        return false;
      }
      return file.state === 'moving' && nowMs - file.sinceMs >= restMs;
    },
    handedOver: (file) => {
      file.state = 'handed';
      file.pauseMs = 0;
    },
    backOff: (file, nowMs) => {
      file.pauseMs = Math.min(pauseMaxMs, Math.max(pauseMinMs, file.pauseMs * 2));
      file.retryAtMs = nowMs + file.pauseMs;
    },
    forgetUnseen: () => {
      for (const [id, file] of files) if (file.sweep !== sweep) files.delete(id);
    },
  };
}

function freshFile(): KnownFile {
  return { state: 'moving', fingerprint: '', sinceMs: 0, retryAtMs: 0, pauseMs: 0, told: '', sweep: 0 };
}
