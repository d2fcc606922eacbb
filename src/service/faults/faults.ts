/**
 * Faults: ways in which the service misbehaves on purpose (`docs/contract.md`, "Service").
 *
 * The catalog is the truth for the parser, its messages and the README. Three groups: *before* (the operation is
 * not carried out), *listing* (the answer of a listing is bent), *after* (it was carried out, the answer is spoilt).
 */

import { PatchbayError } from '#src/errors.ts';
import { type OperationName, operationNames } from '#src/service/operations/operation.ts';

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

type FaultKind = Fault['kind'];

export interface FaultSpec {
  /** As it was written. */
  readonly text: string;
  readonly operation: OperationName | '*';
  readonly fault: Fault;
  /** Above 0, up to 1. */
  readonly probability: number;
}

interface FaultKindEntry {
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
  repeatToken: { argument: 'none', operations: listings, about: 'answers the page token that was sent, forever' },
  nonStringToken: { argument: 'none', operations: listings, about: 'answers a number as the page token' },
  strangers: { argument: 'none', operations: listings, about: 'ignores the filters' },
  truncated: { argument: 'none', operations: operationNames, about: 'commits, then sends half of the body' },
  notJson: { argument: 'none', operations: operationNames, about: 'commits, then answers a web page' },
};

// Reads a fault as people write it: `OPERATION:FAULT[=ARGUMENT][:PROBABILITY]` (`docs/contract.md`, "Service").
//
// Examples: `create:dropAfter:5%`, `list:listLag=2s`, `*:status=503;retryAfter=2:3%`, `numbers:repeatToken`.

/**
 * Throws `usage` errors: `faultMalformed`, `operationUnknown`, `faultUnknown`, `faultMisplaced`, and
 * `faultArgument` for an argument or a probability that cannot be read.
 */
export function parseFault(text: string): FaultSpec {
  const [operationText = '', faultText = '', probabilityText, ...rest] = text.split(':');
  if (faultText === '' || rest.length > 0) {
    throw usage('faultMalformed', `the fault “${text}” is not of the form OPERATION:FAULT[=ARGUMENT][:PROBABILITY]`, {
      fault: text,
    });
  }
  const operation = operationText === '*' ? '*' : operationNames.find((name) => name === operationText);
  if (operation === undefined) {
    const known = ['*', ...operationNames].join(', ');
    throw usage('operationUnknown', `unknown operation “${operationText}” in the fault “${text}”; known: ${known}`, {
      fault: text,
      known,
    });
  }
  const [kindText = '', argument] = splitOnce(faultText, '=');
  const kind = requireKind(kindText, text);
  const { operations } = faultKinds[kind];
  if (operation !== '*' && !operations.includes(operation)) {
    throw usage('faultMisplaced', `the fault ${kind} works on ${operations.join(' and ')}, not on ${operation}`, {
      fault: text,
    });
  }
  return {
    text,
    operation,
    fault: readFault(kind, argument ?? null, text),
    probability: parseProbability(probabilityText ?? null, text),
  };
}

function requireKind(kindText: string, text: string): FaultKind {
  if (isFaultKind(kindText)) return kindText;
  const known = Object.keys(faultKinds).join(', ');
  throw usage('faultUnknown', `unknown fault “${kindText}” in “${text}”; known: ${known}`, { fault: text, known });
}

function isFaultKind(text: string): text is FaultKind {
  return Object.hasOwn(faultKinds, text);
}

function readFault(kind: FaultKind, argument: string | null, text: string): Fault {
  switch (kind) {
    case 'latency':
    case 'lateCommit':
    case 'listLag':
      return { kind, delayMs: parseDelayMs(argument, text) };
    case 'hangAfter':
      return { kind, delayMs: argument === null ? null : parseDelayMs(argument, text) };
    case 'status':
      return { kind, ...parseStatus(argument, text) };
    default:
      if (argument !== null) {
        throw usage('faultArgument', `the fault ${kind} takes no argument, but “${text}” has one`, { fault: text });
      }
      return { kind };
  }
}

function splitOnce(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function usage(code: string, message: string, facts: Readonly<Record<string, string>>): PatchbayError {
  return new PatchbayError('usage', code, message, {
    facts,
    hint: 'Write for example create:dropAfter:5% or list:listLag=2s.',
  });
}

/** The parts of a fault that are figures: durations, a status, a probability. All throw `usage` `faultArgument`. */
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };
const delayMsMax = 3_600_000;

/** A duration such as `250ms`, `2s` or `1m`, up to an hour (`60m`). */
function parseDelayMs(argument: string | null, spec: string): number {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)$/.exec(argument ?? '');
  const delayMs = Math.round(Number(match?.[1]) * (unitMs[match?.[2] ?? ''] ?? Number.NaN));
  if (match === null || delayMs > delayMsMax) {
    throw bad(spec, `needs a duration in ms, s or m, such as 250ms, 2s or 1m, up to 60m, not “${argument ?? ''}”`);
  }
  return delayMs;
}

/** A status from 400 to 599, and the wait that its reply asks for: `503;retryAfter=2`. */
function parseStatus(
  argument: string | null,
  spec: string,
): { readonly status: number; readonly retryAfterSeconds: number | null } {
  const match = /^([45]\d\d)(?:;retryAfter=(\d{1,4}))?$/.exec(argument ?? '');
  if (match === null) {
    throw bad(spec, `needs a status from 400 to 599, as in status=503;retryAfter=2, not “${argument ?? ''}”`);
  }
  return { status: Number(match[1]), retryAfterSeconds: match[2] === undefined ? null : Number(match[2]) };
}

/** A share above nothing: `5%`, `0.05`; absent it is 1. */
function parseProbability(text: string | null, spec: string): number {
  if (text === null) return 1;
  const match = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/.exec(text);
  const share = Number(match?.[1]) / (match?.[2] === '%' ? 100 : 1);
  if (match === null || share <= 0 || share > 1) {
    throw bad(spec, `has the probability “${text}”; write a share above 0 %, up to 100 %, such as 5% or 0.05`);
  }
  return share;
}

function bad(spec: string, what: string): PatchbayError {
  return new PatchbayError('usage', 'faultArgument', `the fault “${spec}” ${what}`, { facts: { fault: spec } });
}

/**
 * The faults in force, and the dice.
 *
 * Each fault has dice of its own, seeded by the set's seed and its place: its n-th draw is the same in every run,
 * whatever happens on other operations.
 */
export interface FaultSet {
  /** The faults that hit one request, in the order in which they were given. */
  readonly draw: (operation: OperationName) => readonly Fault[];
  /** Puts other faults in force and starts the dice anew. */
  readonly replace: (specs: readonly FaultSpec[]) => void;
  readonly specs: () => readonly FaultSpec[];
}

export function createFaultSet(initial: readonly FaultSpec[], seed: number): FaultSet {
  let armed: readonly { readonly spec: FaultSpec; readonly roll: () => number }[] = [];
  const replace = (specs: readonly FaultSpec[]) => {
    armed = specs.map((spec, index) => ({ spec, roll: seededRandom(seed + index) }));
  };
  replace(initial);
  return {
    replace,
    specs: () => armed.map(({ spec }) => spec),
    draw: (operation) =>
      armed
        .filter(({ spec }) => concerns(spec, operation))
        .filter(({ spec, roll }) => roll() < spec.probability)
        .map(({ spec }) => spec.fault),
  };
}

/** `*` means every operation on which the fault can work. */
function concerns(spec: FaultSpec, operation: OperationName): boolean {
  return (
    spec.operation === operation ||
    (spec.operation === '*' && faultKinds[spec.fault.kind].operations.includes(operation))
  );
}

/**
 * A small generator of random numbers that repeats: the same seed gives the same numbers.
 *
 * A counter run through a 32-bit mixing function: each step adds an odd constant, so that all 2^32 states are visited,
 * and the mixing spreads every bit over the whole word. Good for faults, not for secrets.
 */
const step = 0x9e3779b9;

/** Answers numbers from 0 (included) to 1 (excluded). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + step) >>> 0;
    let word = state;
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return ((word ^ (word >>> 15)) >>> 0) / 2 ** 32;
  };
}
