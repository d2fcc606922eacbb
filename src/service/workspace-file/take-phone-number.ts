/** Takes one phone number of a workspace file, and its users where the file has no section for them. */
import type { StoreTables } from '../store/open-store.ts';
import { fittingRecord } from './check-record.ts';
import type { KeepRecord } from './insert-record.ts';
import type { Problems, RecordPlace } from './problems.ts';
import { phoneNumberRecord } from './record-schemas.ts';

interface PhoneNumberParts {
  readonly tables: StoreTables;
  readonly problems: Problems;
  readonly keep: KeepRecord;
  /** The file has users of its own: a number must not name others. */
  readonly hasUsers: boolean;
}

export function takePhoneNumber(value: unknown, place: RecordPlace, parts: PhoneNumberParts): void {
  const { tables, problems, keep, hasUsers } = parts;
  const phoneNumber = fittingRecord(phoneNumberRecord, value, place, problems);
  if (phoneNumber === null) return;
  // A message is sent from a number by its digits: they must name one.
  if (tables.phoneNumbers.findByNumber(phoneNumber.number) !== null) {
    problems.add(place, ['number'], 'another phone number of the file is the same');
    return;
  }
  for (const [index, user] of phoneNumber.users.entries()) {
    if (tables.users.find(user.id) !== null) continue;
    if (hasUsers) {
      problems.add(place, ['users', index, 'id'], 'no user of the file has this id');
      return;
    }
    keep('users', place, () => tables.users.insert(user));
  }
  keep('phoneNumbers', place, () => tables.phoneNumbers.insert(phoneNumber));
}
