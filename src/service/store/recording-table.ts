/** The call recordings of a workspace as rows. Works inside or outside a transaction; commits are the caller's. */
import type { DatabaseSync } from 'node:sqlite';
import type { StoredRecording } from '../recordings/stored-recording.ts';

export interface RecordingTable {
  readonly insert: (recording: StoredRecording) => void;
  /** The oldest first; those without a start come last, in order of insertion. */
  readonly ofCall: (callId: string) => readonly StoredRecording[];
  /** All of them, one at a time, in order of insertion. */
  readonly each: () => Iterable<StoredRecording>;
}

export function createRecordingTable(database: DatabaseSync): RecordingTable {
  const insert = database.prepare('INSERT INTO recordings (id, call_id, document) VALUES (?, ?, ?)');
  const ofCall = database.prepare('SELECT document FROM recordings WHERE call_id = ? ORDER BY seq');
  return {
    insert: (recording) => {
      insert.run(recording.id, recording.callId, JSON.stringify(recording));
    },
    ofCall: (callId) =>
      ofCall
        .all(callId)
        .map((row) => readDocument(row.document))
        .sort((one, other) => startMs(one) - startMs(other)),
    *each() {
      // A statement of its own, so that two walks do not meet.
      const rows = database.prepare('SELECT document FROM recordings ORDER BY seq').iterate();
      for (const row of rows) yield readDocument(row.document);
    },
  };
}

function startMs({ startTime }: StoredRecording): number {
  return startTime === null ? Number.MAX_SAFE_INTEGER : Date.parse(startTime);
}

/** The column holds what `insert` wrote, and nothing else. */
function readDocument(document: unknown): StoredRecording {
  return JSON.parse(String(document)) as StoredRecording;
}
