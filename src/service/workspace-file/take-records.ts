/**
 * Takes the records of each section into the tables: checks a record by itself, then against those before it.
 *
 * Every problem is counted; a record with a problem is not kept. The tables are those of a store that is not in use yet.
 * Sections come in an order in which each finds those that it needs (`sections.ts`).
 */
import type { Clock } from '#src/clock.ts';
import type { StoreTables } from '#src/service/store/open-store.ts';
import { createLoadContext, type LoadContext } from './load-context.ts';
import { fileNewer, fittingRecord, type Problems, type RecordPlace } from './problems.ts';
import * as schemas from './record-schemas.ts';
import { type SectionCounts, type SectionName, workspaceFileFormat } from './sections.ts';
import { takeContacts } from './take-contact.ts';

type TakeRecord = (value: unknown, place: RecordPlace) => void;

export interface RecordTaker {
  /** A section begins. Each section begins once. */
  readonly begin: (section: SectionName) => void;
  /** @throws PatchbayError `usage` `workspaceFileNewer`; and what the store throws. */
  readonly take: (value: unknown, place: RecordPlace) => void;
  /** Makes what the file leaves out. Returns the owner and how many records each section has. */
  readonly finish: () => { readonly ownerUserId: string; readonly counts: SectionCounts };
}

/** All definitions are kept in memory. */
const customFieldCountMax = 10_000;

export function createRecordTaker(file: string, tables: StoreTables, problems: Problems, clock: Clock): RecordTaker {
  const context = createLoadContext(file, tables, problems, clock);
  const { owner, definitions, counts } = context;
  let hasUsers = false;
  const takers: Readonly<Record<SectionName, TakeRecord>> = {
    workspace: takeWorkspace(context),
    users: takeUsers(context),
    customFields: takeCustomFields(context),
    phoneNumbers: takePhoneNumbers(context, () => hasUsers),
    contacts: takeContacts(context),
    ...takeActivity(context),
  };
  return {
    begin: (section) => {
      if (section === 'users') hasUsers = true;
      if (section === 'customFields') definitions.begin();
    },
    take: (value, place) => takers[place.section](value, place),
    finish: () => ({
      ownerUserId: owner.settle(problems),
      counts: { ...counts(), customFields: definitions.all().size, users: countOf(tables.users.each()) },
    }),
  };
}

function takeWorkspace({ file, problems, owner }: LoadContext): TakeRecord {
  return (value, place) => {
    // A newer program may write members that this one does not know.
    const format = schemas.workspaceFormat.safeParse(value).data?.format ?? workspaceFileFormat;
    if (format > workspaceFileFormat) throw fileNewer(file, format, workspaceFileFormat);
    const record = fittingRecord(schemas.workspaceRecord, value, place, problems);
    if (record?.ownerUserId !== undefined) owner.name(record.ownerUserId, place);
  };
}

function takeUsers({ tables, problems, keep }: LoadContext): TakeRecord {
  return (value, place) => {
    const user = fittingRecord(schemas.userRecord, value, place, problems);
    if (user !== null) keep('users', place, () => tables.users.insert(user));
  };
}

function takeCustomFields({ problems, keep, definitions, counts }: LoadContext): TakeRecord {
  return (value, place) => {
    const definition = fittingRecord(schemas.customFieldRecord, value, place, problems);
    if (definition === null) return;
    if (counts().customFields < customFieldCountMax) {
      keep('customFields', place, () => definitions.insert(definition));
    } else {
      problems.add(place, [], `a workspace holds at most ${customFieldCountMax} custom fields`);
    }
  };
}

/** Users may have been made, too. */
function countOf(records: Iterable<unknown>): number {
  let count = 0;
  for (const _record of records) count += 1;
  return count;
}

/** What calls, recordings and messages refer to must be in the file. */
function takeActivity(context: LoadContext): Readonly<Record<'calls' | 'recordings' | 'messages', TakeRecord>> {
  const { tables, problems, keep } = context;
  return {
    calls: (value, place) => {
      const call = fittingRecord(schemas.callRecord, value, place, problems);
      if (call === null) return;
      const { phoneNumberId, userId, initiatedBy, answeredBy } = call;
      if (hasReferences(context, place, { phoneNumberId, userId, initiatedBy, answeredBy })) {
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
      if (!hasReferences(context, place, { phoneNumberId, userId })) return;
      const { conversationId } = tables.messages.shown(message);
      if ((message.conversationId ?? conversationId) !== conversationId) {
        const words = `must be ${conversationId}, as it follows from the number and the others, or be left out`;
        problems.add(place, ['conversationId'], words);
        return;
      }
      keep('messages', place, () => tables.messages.insert(message));
    },
  };
}

/** A number, and users by the members that name them. */
type References = Readonly<Record<string, string | null>> & { readonly phoneNumberId: string };

function hasReferences(
  { tables, problems, owner }: LoadContext,
  place: RecordPlace,
  { phoneNumberId, ...userIds }: References,
): boolean {
  if (tables.phoneNumbers.find(phoneNumberId) === null) {
    problems.add(place, ['phoneNumberId'], 'no phone number of the file has this id');
    return false;
  }
  for (const [member, id] of Object.entries(userIds)) {
    // The owner may be a user whom the loading made.
    if (id === null || id === owner.id() || tables.users.find(id) !== null) continue;
    problems.add(place, [member], 'no user of the file has this id');
    return false;
  }
  return true;
}

/** `hasUsers`: the file has users of its own, and a number must not name others. Else the numbers' users are kept. */
function takePhoneNumbers({ tables, problems, keep }: LoadContext, hasUsers: () => boolean): TakeRecord {
  return (value, place) => {
    const phoneNumber = fittingRecord(schemas.phoneNumberRecord, value, place, problems);
    if (phoneNumber === null) return;
    // A message is sent from a number by its digits: they must name one.
    if (tables.phoneNumbers.findByNumber(phoneNumber.number) !== null) {
      problems.add(place, ['number'], 'another phone number of the file is the same');
      return;
    }
    for (const [index, user] of phoneNumber.users.entries()) {
      if (tables.users.find(user.id) !== null) continue;
      if (hasUsers()) {
        problems.add(place, ['users', index, 'id'], 'no user of the file has this id');
        return;
      }
      keep('users', place, () => tables.users.insert(user));
    }
    keep('phoneNumbers', place, () => tables.phoneNumbers.insert(phoneNumber));
  };
}
