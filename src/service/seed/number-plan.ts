/**
 * Who has which of the fictional numbers in a new workspace: its own phone numbers the first, then its contacts, and the
 * last are those of strangers.
 *
 * Invariant: no number is both the workspace's and somebody else's, and a stranger is no contact. Contacts share numbers
 * where there are more of them than numbers, as people do who share a telephone.
 */
import { fictionalNumber, fictionalNumberCount } from './fictional-number.ts';

/** Strangers who call and write, and one to whom calls are forwarded. */
const strangerCount = 8;

export interface NumberPlan {
  /** The number of the n-th contact, E.164. Without contacts: of somebody whom the workspace does not know. */
  readonly ofContact: (index: number) => string;
  /** The number of the n-th stranger, E.164; below 8. */
  readonly ofStranger: (index: number) => string;
}

export function createNumberPlan(phoneNumberCount: number): NumberPlan {
  const firstOfStrangers = fictionalNumberCount - strangerCount;
  const ofContactsCount = firstOfStrangers - phoneNumberCount;
  return {
    ofContact: (index) => fictionalNumber(phoneNumberCount + (index % ofContactsCount)).e164,
    ofStranger: (index) => fictionalNumber(firstOfStrangers + index).e164,
  };
}
