/**
 * Invents the users and phone numbers of a new workspace.
 *
 * Ids are random, so that two workspaces can be told apart by them (`rules.md`, "Workspace, feed, key").
 */
import { randomBytes } from 'node:crypto';
import { isoInstant } from '#src/clock.ts';
import type { PhoneNumber, WorkspaceUser } from '../numbers/phone-number.ts';
import { fictionalNumber } from './fictional-number.ts';
import { inventedPerson } from './invented-people.ts';

const numbersPerUser = 2;
const userCountMax = 50;
const names = ['Main', 'Sales', 'Support', 'Front desk', 'Billing'] as const;
const symbols = ['☎️', '💼', '🛟', '🛎️', null] as const;

/** The owner comes first; there is always one. */
export function inventUsers(phoneNumberCount: number): readonly [WorkspaceUser, ...WorkspaceUser[]] {
  const groupId = newId('GR');
  const user = (index: number, role: WorkspaceUser['role']): WorkspaceUser => {
    const { firstName, lastName, email } = inventedPerson(index);
    // A user who was invited and has not signed up has no name yet.
    const named = index % 10 !== 9;
    return {
      id: newId('US'),
      email,
      firstName: named ? firstName : null,
      lastName: named ? lastName : null,
      role,
      groupId,
    };
  };
  const otherCount = Math.min(userCountMax, Math.ceil(phoneNumberCount / numbersPerUser)) - 1;
  const others = Array.from({ length: Math.max(0, otherCount) }, (_, index) =>
    user(index + 1, index === 0 ? 'admin' : 'member'),
  );
  return [user(0, 'owner'), ...others];
}

export function inventPhoneNumber(index: number, users: readonly WorkspaceUser[], nowMs: number): PhoneNumber {
  const { e164, national } = fictionalNumber(index);
  const ported = index % 4 === 3;
  const createdAt = isoInstant(nowMs);
  return {
    id: newId('PN'),
    groupId: newId('GR'),
    portRequestId: ported ? randomBytes(8).toString('hex') : null,
    formattedNumber: national,
    forward: null,
    name: names[index % names.length] ?? 'Main',
    number: e164,
    portingStatus: ported ? 'completed' : null,
    symbol: symbols[index % symbols.length] ?? null,
    users: usersOf(index, users),
    createdAt,
    updatedAt: createdAt,
    // International messaging is off (`contract.md`, "Service").
    restrictions: {
      calling: { CA: 'unrestricted', Intl: 'unrestricted', US: 'unrestricted' },
      messaging: { CA: 'unrestricted', Intl: 'restricted', US: 'unrestricted' },
    },
  };
}

/** One user, and for every other number a second one. */
function usersOf(index: number, users: readonly WorkspaceUser[]): readonly WorkspaceUser[] {
  const places = index % 2 === 0 ? [index] : [index, index + 1];
  const chosen = places.flatMap((place) => users[place % users.length] ?? []);
  return [...new Set(chosen)];
}

function newId(prefix: 'US' | 'PN' | 'GR'): string {
  return prefix + randomBytes(5).toString('hex');
}
