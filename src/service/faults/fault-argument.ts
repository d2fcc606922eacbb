/** The parts of a fault that are figures: durations, a status, a probability. All throw `usage` `faultArgument`. */
import { PatchbayError } from '#src/errors.ts';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };
const delayMsMax = 3_600_000;

/** A duration such as `250ms`, `2s` or `1m`, up to an hour. */
export function parseDelayMs(argument: string | null, spec: string): number {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)$/.exec(argument ?? '');
  const delayMs = Math.round(Number(match?.[1]) * (unitMs[match?.[2] ?? ''] ?? Number.NaN));
  if (match === null || delayMs > delayMsMax) {
    throw bad(spec, `needs a duration such as 250ms, 2s or 1m, up to an hour, not “${argument ?? ''}”`);
  }
  return delayMs;
}

/** A status from 400 to 599, and the wait that its reply asks for: `503;retryAfter=2`. */
export function parseStatus(
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
export function parseProbability(text: string | null, spec: string): number {
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
