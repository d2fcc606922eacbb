/**
 * What happened lately on a phone number of a new workspace, as a pattern: the same in every workspace, placed before
 * the instant of its making.
 *
 * It is spread so that every parameter of the listings shows: some days old and some hours, of the owner of the number
 * and of a second user, with people whom the contacts name and with a stranger, incoming and outgoing, taken and
 * missed, with none, one and two recordings.
 */

/** Two people of the contacts (where the workspace has contacts), and somebody whom nobody knows. */
export type PatternPerson = 'first' | 'second' | 'stranger';
/** Of a number with a single user the second is the owner, too. */
export type PatternUser = 'owner' | 'second';

export interface PatternCall {
  readonly hoursAgo: number;
  readonly person: PatternPerson;
  readonly user: PatternUser;
  readonly direction: 'incoming' | 'outgoing';
  readonly status: 'completed' | 'missed' | 'no-answer';
  /** 0 where nobody answered. */
  readonly seconds: number;
  readonly recordingCount: 0 | 1 | 2;
}

export interface PatternMessage {
  readonly hoursAgo: number;
  readonly person: PatternPerson;
  readonly user: PatternUser;
  readonly direction: 'incoming' | 'outgoing';
  readonly text: string;
}

/** The oldest is less than the age of the numbers ago. */
export const patternCalls: readonly PatternCall[] = [
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

export const patternMessages: readonly PatternMessage[] = [
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
