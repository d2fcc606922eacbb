/**
 * Faults: ways in which the service misbehaves on purpose (`contract.md`, "Service").
 *
 * The catalog is the truth for the parser, its messages and the README. Three groups: *before* (the operation is
 * not carried out), *listing* (the answer of a listing is bent), *after* (it was carried out, the answer is spoilt).
 */
import { type OperationName, operationNames } from '../operations/operation.ts';

export type Fault =
  | { readonly kind: 'latency'; readonly delayMs: number }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds: number | null }
  | { readonly kind: 'dropBefore' }
  | { readonly kind: 'dropAfter' }
  | { readonly kind: 'hangAfter'; readonly delayMs: number | null }
  | { readonly kind: 'lateCommit'; readonly delayMs: number }
  | { readonly kind: 'listLag'; readonly delayMs: number }
  | { readonly kind: 'repeatToken' }
  | { readonly kind: 'nonStringToken' }
  | { readonly kind: 'strangers' }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'notJson' };

export type FaultKind = Fault['kind'];

export interface FaultSpec {
  /** As it was written. */
  readonly text: string;
  readonly operation: OperationName | '*';
  readonly fault: Fault;
  /** Above 0, up to 1. */
  readonly probability: number;
}

export interface FaultKindEntry {
  readonly argument: 'none' | 'duration' | 'duration?' | 'status';
  /** Where it can work. */
  readonly operations: readonly OperationName[];
  readonly about: string;
}

const listings: readonly OperationName[] = ['list', 'numbers', 'calls', 'messages'];

export const faultKinds: Readonly<Record<FaultKind, FaultKindEntry>> = {
  latency: { argument: 'duration', operations: operationNames, about: 'waits, then goes on' },
  status: { argument: 'status', operations: operationNames, about: 'answers that status and does nothing' },
  dropBefore: { argument: 'none', operations: operationNames, about: 'resets the connection and does nothing' },
  dropAfter: { argument: 'none', operations: operationNames, about: 'commits, then resets the connection' },
  hangAfter: { argument: 'duration?', operations: operationNames, about: 'commits, then never answers (or resets)' },
  lateCommit: { argument: 'duration', operations: operationNames, about: 'resets at once and commits later' },
  listLag: { argument: 'duration', operations: ['list'], about: 'lists a contact only when it is that old' },
  repeatToken: { argument: 'none', operations: listings, about: 'answers the page token that was sent, for ever' },
  nonStringToken: { argument: 'none', operations: listings, about: 'answers a number as the page token' },
  strangers: { argument: 'none', operations: listings, about: 'ignores the filters' },
  truncated: { argument: 'none', operations: operationNames, about: 'commits, then sends half of the body' },
  notJson: { argument: 'none', operations: operationNames, about: 'commits, then answers a web page' },
};
