/**
 * Reads a fault as people write it: `OPERATION:FAULT[=ARGUMENT][:PROBABILITY]` (`contract.md`, "Service").
 *
 * Examples: `create:dropAfter:5%`, `list:listLag=2s`, `*:status=503;retryAfter=2:3%`, `numbers:repeatToken`.
 */
import { PatchbayError } from '#src/errors.ts';
import { operationNames } from '../operations/operation.ts';
import { type Fault, type FaultKind, type FaultSpec, faultKinds } from './fault.ts';
import { parseDelayMs, parseProbability, parseStatus } from './fault-argument.ts';

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
