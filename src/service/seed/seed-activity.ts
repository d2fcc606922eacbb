/**
 * Invents the calls, recordings and messages of a new workspace, for the first few of its phone numbers.
 *
 * Everything is invented: the people's numbers are fictional ones that the workspace does not have itself.
 */
import { randomBytes } from 'node:crypto';
import { isoInstant } from '#src/clock.ts';
import { createActivityIds, type NextActivityId } from '#src/service/activity/conversations.ts';
import type { StoreTables } from '#src/service/store/open-store.ts';
import {
  type KeptMessage,
  numberOwnerId,
  type PhoneNumber,
  type StoredCall,
  type StoredRecording,
} from '#src/service/stored-records.ts';
import type { NumberPlan } from './invented-people.ts';

/** How many of the phone numbers have calls and messages. */
export const activeNumberCount = 4;

const hourMs = 3_600_000;
/** Two numbers' calls do not fall on one instant. */
const betweenNumbersMs = 7 * 60_000;

interface ActivityFacts {
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
  // Two contacts for each number: of few, the first ones again; where there are none, people who are no contacts.
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
    callRoute: pattern.direction === 'incoming' ? 'phone-number' : null,
    aiHandled: null,
    forwardedFrom: null,
    forwardedTo: null,
    createdAt: isoInstant(createdMs),
    updatedAt: completedAt,
  };
}

function inventMessage(id: string, pattern: PatternMessage, scene: Scene, createdMs: number): KeptMessage {
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
    status: incoming ? 'received' : 'delivered',
    createdAt: isoInstant(createdMs),
    updatedAt: isoInstant(createdMs + 2_000),
  };
}

// What happened lately on a phone number of a new workspace, as a pattern: the same in every workspace, placed before
// the instant of its making.
//
// It is spread so that every parameter of the listings shows: some days old and some hours, of the owner of the number
// and of a second user, with people whom the contacts name and with a stranger, incoming and outgoing, taken and
// missed, with none, one and two recordings.

/** Two people of the contacts (where the workspace has contacts), and a stranger. */
type PatternPerson = 'first' | 'second' | 'stranger';
/** Of a number with a single user the second is the owner, too. */
type PatternUser = 'owner' | 'second';

interface PatternCall {
  readonly hoursAgo: number;
  readonly person: PatternPerson;
  readonly user: PatternUser;
  readonly direction: 'incoming' | 'outgoing';
  readonly status: 'completed' | 'missed' | 'no-answer';
  /** 0 where the call was not answered. */
  readonly seconds: number;
  readonly recordingCount: 0 | 1 | 2;
}

interface PatternMessage {
  readonly hoursAgo: number;
  readonly person: PatternPerson;
  readonly user: PatternUser;
  readonly direction: 'incoming' | 'outgoing';
  readonly text: string;
}

/** The oldest is less than the age of the numbers ago. */
const patternCalls: readonly PatternCall[] = [
  call(312, 'first', 'owner', 'incoming', 'completed', 640, 2),
  call(264, 'first', 'owner', 'outgoing', 'completed', 95, 1),
  call(190, 'second', 'owner', 'incoming', 'completed', 210, 0),
  call(150, 'first', 'second', 'incoming', 'completed', 333, 1),
  call(97, 'first', 'owner', 'incoming', 'missed', 0, 0),
  call(71, 'stranger', 'owner', 'incoming', 'missed', 0, 0),
  call(49, 'first', 'second', 'outgoing', 'no-answer', 0, 0),
  call(26, 'second', 'second', 'incoming', 'missed', 0, 0),
  call(5, 'first', 'owner', 'outgoing', 'completed', 61, 0),
];

const patternMessages: readonly PatternMessage[] = [
  message(311, 'first', 'owner', 'outgoing', 'Thank you for your call. The offer is on its way.'),
  message(288, 'first', 'owner', 'incoming', 'It came, thanks. May I ask two things about it?'),
  message(189, 'second', 'owner', 'outgoing', 'Your order is ready. We are open until six.'),
  message(148, 'first', 'second', 'outgoing', 'Hello, I took over the offer from my colleague. What may I answer?'),
  message(147, 'first', 'owner', 'incoming', 'Could it begin a week later?'),
  message(70, 'stranger', 'owner', 'incoming', 'Is this the number of the tea shop?'),
  message(48, 'first', 'second', 'outgoing', 'A week later is fine 👍'),
  message(25, 'second', 'second', 'outgoing', 'Sorry that we missed your call. When may we ring back?'),
  message(4, 'first', 'owner', 'outgoing', 'As we said on the phone: Monday at nine.'),
];

function call(
  hoursAgo: number,
  person: PatternPerson,
  user: PatternUser,
  direction: PatternCall['direction'],
  status: PatternCall['status'],
  seconds: number,
  recordingCount: PatternCall['recordingCount'],
): PatternCall {
  return { hoursAgo, person, user, direction, status, seconds, recordingCount };
}

function message(
  hoursAgo: number,
  person: PatternPerson,
  user: PatternUser,
  direction: PatternMessage['direction'],
  text: string,
): PatternMessage {
  return { hoursAgo, person, user, direction, text };
}

// Invents the recordings of a call. Their files do not exist: example.com is set aside for examples.

/** Segments of equal length, one after the other, from the answer to the end; the oldest first. */
function inventRecordings(
  { id: callId, answeredAt, duration }: StoredCall,
  recordingCount: number,
): readonly StoredRecording[] {
  if (answeredAt === null) return [];
  const seconds = Math.floor(duration / Math.max(1, recordingCount));
  return Array.from({ length: recordingCount }, (_, index) => {
    const id = `CR${randomBytes(8).toString('hex')}`;
    return {
      id,
      callId,
      duration: seconds,
      startTime: isoInstant(Date.parse(answeredAt) + index * seconds * 1_000),
      status: 'completed',
      type: 'audio/mpeg',
      url: `https://example.com/invented-recordings/${id}.mp3`,
    };
  });
}
