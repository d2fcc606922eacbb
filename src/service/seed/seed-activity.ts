/**
 * Invents the calls, recordings and messages of a new workspace, for the first few of its phone numbers.
 *
 * Everything is invented: the people's numbers are fictional ones that the workspace does not have itself.
 */
import { isoInstant } from '#src/clock.ts';
import type { StoredCall } from '../calls/stored-call.ts';
import { createActivityIds, type NextActivityId } from '../conversations/activity-id.ts';
import type { StoredMessage } from '../messages/stored-message.ts';
import { numberOwnerId } from '../phone-numbers/number-owner.ts';
import type { PhoneNumber } from '../phone-numbers/phone-number.ts';
import type { StoreTables } from '../store/open-store.ts';
import {
  type PatternCall,
  type PatternMessage,
  type PatternPerson,
  type PatternUser,
  patternCalls,
  patternMessages,
} from './activity-pattern.ts';
import type { NumberPlan } from './number-plan.ts';
import { inventRecordings } from './seed-recordings.ts';

/** How many of the phone numbers have calls and messages. */
export const activeNumberCount = 4;

const hourMs = 3_600_000;
/** Two numbers' calls do not fall on one instant. */
const betweenNumbersMs = 7 * 60_000;

export interface ActivityFacts {
  readonly nowMs: number;
  readonly ownerUserId: string;
  readonly contactCount: number;
  readonly numberPlan: NumberPlan;
}

/** What happens on one number: who is who there. */
interface Scene {
  readonly phoneNumber: PhoneNumber;
  readonly userIds: Readonly<Record<PatternUser, string>>;
  /** E.164. */
  readonly people: Readonly<Record<PatternPerson, string>>;
}

interface Happening {
  readonly createdMs: number;
  readonly store: (nextId: NextActivityId) => void;
}

/** Stores what happened on these numbers, the oldest first, so that ids and places are in order of time. */
export function seedActivity(
  tables: Pick<StoreTables, 'calls' | 'recordings' | 'messages'>,
  phoneNumbers: readonly PhoneNumber[],
  facts: ActivityFacts,
): void {
  const happenings = phoneNumbers.flatMap((phoneNumber, index): Happening[] => {
    const scene = sceneOf(phoneNumber, index, facts);
    const createdMsOf = (hoursAgo: number) => Math.max(0, facts.nowMs - hoursAgo * hourMs - index * betweenNumbersMs);
    return [
      ...patternCalls.map((pattern) => {
        const createdMs = createdMsOf(pattern.hoursAgo);
        const store = (nextId: NextActivityId) => {
          const call = inventCall(nextId(createdMs), pattern, scene, createdMs);
          tables.calls.insert(call);
          for (const recording of inventRecordings(call, pattern.recordingCount)) tables.recordings.insert(recording);
        };
        return { createdMs, store };
      }),
      ...patternMessages.map((pattern) => {
        const createdMs = createdMsOf(pattern.hoursAgo);
        const store = (nextId: NextActivityId) =>
          tables.messages.insert(inventMessage(nextId(createdMs), pattern, scene, createdMs));
        return { createdMs, store };
      }),
    ];
  });
  const nextId = createActivityIds();
  for (const { store } of happenings.sort((one, other) => one.createdMs - other.createdMs)) store(nextId);
}

function sceneOf(phoneNumber: PhoneNumber, index: number, facts: ActivityFacts): Scene {
  const { contactCount, numberPlan } = facts;
  const owner = numberOwnerId(phoneNumber, facts.ownerUserId);
  // Two contacts for each number: of few, the first ones again; where there are none, people whom nobody has entered.
  const contactAt = (place: number) => numberPlan.ofContact(contactCount === 0 ? place : place % contactCount);
  return {
    phoneNumber,
    userIds: { owner, second: phoneNumber.users[1]?.id ?? owner },
    people: {
      first: contactAt(2 * index),
      second: contactAt(2 * index + 1),
      stranger: numberPlan.ofStranger(index),
    },
  };
}

function inventCall(id: string, pattern: PatternCall, scene: Scene, createdMs: number): StoredCall {
  const { phoneNumber, userIds, people } = scene;
  const userId = userIds[pattern.user];
  const answered = pattern.status === 'completed';
  // It rang for a quarter of a minute, or for half a minute in vain.
  const ringMs = answered ? 15_000 : 30_000;
  const completedAt = isoInstant(createdMs + ringMs + pattern.seconds * 1_000);
  return {
    id,
    direction: pattern.direction,
    status: pattern.status,
    duration: pattern.seconds,
    participants: [people[pattern.person], phoneNumber.number],
    phoneNumberId: phoneNumber.id,
    userId,
    initiatedBy: pattern.direction === 'outgoing' ? userId : null,
    answeredBy: pattern.direction === 'incoming' && answered ? userId : null,
    answeredAt: answered ? isoInstant(createdMs + ringMs) : null,
    completedAt,
    forwardedFrom: null,
    forwardedTo: null,
    createdAt: isoInstant(createdMs),
    updatedAt: completedAt,
  };
}

function inventMessage(id: string, pattern: PatternMessage, scene: Scene, createdMs: number): StoredMessage {
  const { phoneNumber, userIds, people } = scene;
  const person = people[pattern.person];
  const incoming = pattern.direction === 'incoming';
  return {
    id,
    to: [incoming ? phoneNumber.number : person],
    from: incoming ? person : phoneNumber.number,
    text: pattern.text,
    phoneNumberId: phoneNumber.id,
    direction: pattern.direction,
    userId: userIds[incoming ? 'owner' : pattern.user],
    status: 'delivered',
    createdAt: isoInstant(createdMs),
    updatedAt: isoInstant(createdMs + 2_000),
  };
}
