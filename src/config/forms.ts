/**
 * The forms a setting's value can have: how it is written, checked and written again.
 *
 * Invariant: every issue's message completes the sentence "KEY must be …", so that a wrong value is always answered
 * with the expected form. A message never repeats the value: the value may be a secret.
 */
import { z } from 'zod';
import { durationPattern, formatDuration, parseDuration } from './duration.ts';
import { formatPercentage, parsePercentage, percentagePattern } from './percentage.ts';
import { expectedSource, sourceProblem } from './source-label.ts';
import { expectedZone, isTimeZone } from './time-zone.ts';

/** How a parsed number is written again. Forms without an entry are written as they are. */
export const numberWriters = z.registry<{ write: (value: number) => string }>();

/** A duration as text, from `min` to `max` (texts as well); parsed to milliseconds. */
export function duration(min: string, max: string) {
  const minMs = parseDuration(min) ?? 0;
  const maxMs = parseDuration(max) ?? Number.MAX_SAFE_INTEGER;
  const expected = `a duration such as 500ms, 30s, 10m, 26h or 400d, from ${min} to ${max}`;
  return z
    .string({ error: expected })
    .regex(durationPattern, { error: expected })
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms !== null && ms >= minMs && ms <= maxMs) return ms;
      context.issues.push({ code: 'custom', message: expected, input: text });
      return z.NEVER;
    })
    .register(numberWriters, { write: formatDuration });
}

/** A percentage as text, from 0% to 100%; parsed to a fraction from 0 to 1. */
export function percentage() {
  const expected = 'a percentage such as 30%, from 0% to 100%';
  return z
    .string({ error: expected })
    .regex(percentagePattern, { error: expected })
    .transform((text, context) => {
      const fraction = parsePercentage(text);
      if (fraction !== null) return fraction;
      context.issues.push({ code: 'custom', message: expected, input: text });
      return z.NEVER;
    })
    .register(numberWriters, { write: formatPercentage });
}

/** A whole number with both bounds included. */
export function wholeNumber(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** One of a few words. */
export function choice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: words.length === 1 ? words[0] : `one of ${words.join(', ')}` });
}

/** The path of a file or folder, up to 1,000 characters. */
export function path() {
  const error = 'the path of a file or folder';
  return z.string({ error }).min(1, { error }).max(1_000, { error });
}

/** A secret that travels in a header: printable ASCII without spaces. */
export function secret() {
  const error = 'up to 1000 printable ASCII characters without spaces';
  return z.string({ error }).regex(/^[\x21-\x7e]{1,1000}$/, { error });
}

/** A text that `problemOf` accepts by returning null; otherwise it returns the expected form. */
export function checkedText(expected: string, problemOf: (text: string) => string | null) {
  return z.string({ error: expected }).superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
}

/** True or false. */
export function yesOrNo() {
  return z.boolean({ error: 'true or false' });
}

const expectedCron = 'a cron expression of five fields (minute, hour, day, month, weekday) such as "30 2 * * *"';

/** Five fields of a cron expression, one space between them. What they hold is looked at by `cronProblem`. */
export function cron() {
  return z
    .string({ error: expectedCron })
    .regex(/^\s*(?:\S{1,100}\s+){4}\S{1,100}\s*$/, { error: expectedCron })
    .transform((text) => text.trim().split(/\s+/).join(' '));
}

/** An IANA time zone that this machine knows. */
export function timeZone() {
  return checkedText(expectedZone, (text) => (isTimeZone(text) ? null : expectedZone));
}

/** A label that the service accepts, trimmed and in NFC. */
export function sourceLabel() {
  return checkedText(expectedSource, sourceProblem).transform((text) => text.trim().normalize('NFC'));
}

const expectedHosts = 'a list of host names such as [files.example.com, cdn.example.com]';
const hostsMax = 100;

/** Host names without ports, in lower case: a list, or text with commas between them. */
export function hostNames() {
  const host = z
    .string({ error: expectedHosts })
    .regex(/^[0-9A-Za-z._-]{1,253}$|^\[[0-9A-Fa-f:.]{2,45}\]$/, { error: `${expectedHosts}, without ports` })
    .transform((text) => text.toLowerCase());
  const list = z.array(host, { error: expectedHosts }).max(hostsMax, { error: `a list of up to ${hostsMax} hosts` });
  return z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').map((text) => text.trim()) : value),
    list.readonly(),
  );
}
