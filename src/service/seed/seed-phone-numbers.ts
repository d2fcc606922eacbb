/**
 * Invents the users and phone numbers of a new workspace.
 *
 * Ids are random, so that two workspaces can be told apart by them (`docs/rules.md`, "Workspace, feed, key").
 */
import { randomBytes } from 'node:crypto';
import { isoInstant } from '#src/clock.ts';
import type { PhoneNumber, WorkspaceUser } from '#src/service/stored-records.ts';
import { fictionalNumber, inventedUser } from './invented-people.ts';

const numbersPerUser = 2;
const userCountMax = 50;
/** The numbers are a month older than the workspace's store: older than what happened on them. */
const numberAgeMs = 30 * 24 * 3_600_000;
const names = ['Main', 'Sales', 'Support', 'Front desk', 'Billing'] as const;
const symbols = ['☎️', null, '💼', '🛟', '🛎️'] as const;
/** Counted from 0. Numbers that are unlike the others, so that clients meet every member that may differ. */
const odd = { restrictedForCallsAbroad: 1, forwarding: 2, withoutDisplayForm: 5 } as const;

export interface InventedNumberFacts {
  readonly nowMs: number;
  readonly internationalMessaging: boolean;
  /** E.164; a stranger to the workspace. */
  readonly forwardTo: string;
}

/** The owner comes first; there is always one. */
export function inventUsers(phoneNumberCount: number): readonly [WorkspaceUser, ...WorkspaceUser[]] {
  const groupId = newId('GR');
  const user = (index: number, role: WorkspaceUser['role']): WorkspaceUser => {
    const { firstName, lastName, email } = inventedUser(index);
    // A user who was invited and has not signed up has no name yet: the third, and every tenth from there on.
    const named = index % 10 !== 2;
    return {
      id: newId('US'),
      email,
      firstName: named ? firstName : null,
      lastName: named ? lastName : null,
      role,
      groupId,
    };
  };
  // A number has room for a second user: where there is one, there are two.
  const userCountMin = phoneNumberCount > 0 ? 2 : 1;
  const userCount = Math.max(userCountMin, Math.ceil(phoneNumberCount / numbersPerUser));
  const otherCount = Math.min(userCountMax, userCount) - 1;
  const others = Array.from({ length: Math.max(0, otherCount) }, (_, index) =>
    user(index + 1, index === 0 ? 'admin' : 'member'),
  );
  return [user(0, 'owner'), ...others];
}

export function inventPhoneNumber(
  index: number,
  users: readonly WorkspaceUser[],
  { nowMs, internationalMessaging, forwardTo }: InventedNumberFacts,
): PhoneNumber {
  const { e164, national } = fictionalNumber(index);
  const ported = index % 4 === 3;
  const createdAt = isoInstant(Math.max(0, nowMs - numberAgeMs));
  return {
    id: newId('PN'),
    groupId: newId('GR'),
    portRequestId: ported ? randomBytes(8).toString('hex') : null,
    formattedNumber: index === odd.withoutDisplayForm ? null : national,
    forward: index === odd.forwarding ? forwardTo : null,
    name: names[index % names.length] ?? 'Main',
    number: e164,
    portingStatus: ported ? 'completed' : null,
    symbol: symbols[index % symbols.length] ?? null,
    users: usersOf(index, users),
    createdAt,
    updatedAt: createdAt,
    restrictions: {
      calling: {
        CA: 'unrestricted',
        Intl: index === odd.restrictedForCallsAbroad ? 'restricted' : 'unrestricted',
        US: 'unrestricted',
      },
      messaging: {
        CA: 'unrestricted',
        Intl: internationalMessaging ? 'unrestricted' : 'restricted',
        US: 'unrestricted',
      },
    },
  };
}

/**
 * One user, and for every other number and the first a second one. The first of them owns the number: of the first
 * number that is the workspace owner, of the second another user, so that the two can be told apart (1.0.1).
 */
function usersOf(index: number, users: readonly WorkspaceUser[]): readonly WorkspaceUser[] {
  const places = index > 0 && index % 2 === 0 ? [index] : [index, index + 1];
  const chosen = places.flatMap((place) => users[place % users.length] ?? []);
  return [...new Set(chosen)];
}

function newId(prefix: 'US' | 'PN' | 'GR'): string {
  return prefix + randomBytes(5).toString('hex');
}
