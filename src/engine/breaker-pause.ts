/** The pause that a breaker sets, in words for people. Pure. */
import { unreachable } from '#src/errors.ts';
import type { Pause } from '#src/ledger/port.ts';
import type { OpenedBreaker, RequestFailure } from '#src/workspace/breaker.ts';

export function breakerPause(origin: string, breaker: OpenedBreaker): Omit<Pause, 'sinceMs'> {
  const { kind, failure, otherKindPasses } = breaker;
  const code = 'unreachable';
  const errorCode = failure.code;
  if (kind === 'read') return { code, scope: 'all', errorCode, message: readsFail(origin, failure) };
  const reads = otherKindPasses ? '; reads pass' : '';
  const message = `Creates and updates fail at the service at ${origin} (${failure.why})${reads}.`;
  return { code, scope: 'writes', errorCode, message };
}

function readsFail(origin: string, { code, why }: RequestFailure): string {
  switch (code) {
    case 'serviceUnreachable':
      return `The service at ${origin} cannot be reached: ${why}.`;
    case 'serviceFailing':
      return `The service at ${origin} fails (${why}).`;
    case 'serviceAnswersOddly':
      return `What answers at ${origin} does not follow the interface (${why}).`;
    default:
      return unreachable(code);
  }
}
