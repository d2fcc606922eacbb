/** Takes the calls, recordings and messages of a workspace file. What they refer to must be in the file. */
import type { StoreTables } from '../store/open-store.ts';
import { fittingRecord } from './check-record.ts';
import type { KeepRecord, TakeRecord } from './insert-record.ts';
import type { Problems, RecordPlace } from './problems.ts';
import * as schemas from './record-schemas.ts';
import type { WorkspaceOwner } from './workspace-owner.ts';

interface ActivityParts {
  readonly tables: StoreTables;
  readonly problems: Problems;
  readonly keep: KeepRecord;
  readonly owner: WorkspaceOwner;
}

export function takeActivity(parts: ActivityParts): Readonly<Record<'calls' | 'recordings' | 'messages', TakeRecord>> {
  const { tables, problems, keep } = parts;
  return {
    calls: (value, place) => {
      const call = fittingRecord(schemas.callRecord, value, place, problems);
      if (call === null) return;
      const { phoneNumberId, userId, initiatedBy, answeredBy } = call;
      if (hasReferences(parts, place, { phoneNumberId, userId, initiatedBy, answeredBy })) {
        keep('calls', place, () => tables.calls.insert(call));
      }
    },
    recordings: (value, place) => {
      const recording = fittingRecord(schemas.recordingRecord, value, place, problems);
      if (recording === null) return;
      if (tables.calls.find(recording.callId) === null) {
        problems.add(place, ['callId'], 'no call of the file has this id');
        return;
      }
      keep('recordings', place, () => tables.recordings.insert(recording));
    },
    messages: (value, place) => {
      const message = fittingRecord(schemas.messageRecord, value, place, problems);
      if (message === null) return;
      const { phoneNumberId, userId } = message;
      if (hasReferences(parts, place, { phoneNumberId, userId })) {
        keep('messages', place, () => tables.messages.insert(message));
      }
    },
  };
}

/** A number, and users by the members that name them. */
type References = Readonly<Record<string, string | null>> & { readonly phoneNumberId: string };

function hasReferences(
  { tables, problems, owner }: ActivityParts,
  place: RecordPlace,
  { phoneNumberId, ...userIds }: References,
): boolean {
  if (tables.phoneNumbers.find(phoneNumberId) === null) {
    problems.add(place, ['phoneNumberId'], 'no phone number of the file has this id');
    return false;
  }
  for (const [member, id] of Object.entries(userIds)) {
    // The owner may be somebody whom the loading made.
    if (id === null || id === owner.id() || tables.users.find(id) !== null) continue;
    problems.add(place, [member], 'no user of the file has this id');
    return false;
  }
  return true;
}
