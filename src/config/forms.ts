/**
 * The forms that a setting's value can have: how it is written, checked and written again; and what else is known of a
 * setting (`SettingTraits`).
 *
 * Invariant: the message of an issue completes the sentence "KEY must be …", so that each wrong value is answered with the
 * expected form; one reported with `sentence` completes "KEY …". No message repeats a value that may be a secret.
 */

import { Cron } from 'croner';
import { z } from 'zod';
import { closest } from './closest.ts';

/** What is known of a setting beyond its form. */
export interface SettingTraits {
  /** The short variable of the contract; `PATCHBAY_<SECTION>_<KEY>` works too. */
  readonly env?: string;
  /**
   * What is masked: the `whole` value; of a URL its `password`, all behind its origin (`path`), or its `query`. A value of
   * `unlessRight` is shown only where it has the expected form, since a wrong one may be a secret.
   */
  readonly secret?: 'whole' | 'password' | 'path' | 'query' | 'unlessRight';
  /** Refused in a config file and as a flag, where others could read it. */
  readonly environmentOnly?: true;
  /**
   * A relative path starts at the folder of the config file that holds it, elsewhere at the current folder. `orUrl`: a value
   * with a scheme is no path. `orName`: a value with neither a folder nor a YAML extension is no path.
   */
  readonly path?: true | 'orUrl' | 'orName';
}

/** By the outermost schema of a setting. A setting without an entry has none. */
export const settingTraits = z.registry<SettingTraits>();

/** How a parsed number is written again, and in which unit it is. Other forms are written as they are. */
export const numberForms = z.registry<{ write: (value: number) => string; suffix: 'Ms' | '' }>();

/** The bounds of a setting, both included, as they are written. */
export const ranges = z.registry<{ readonly from: string; readonly to: string }>();

/** Milliseconds, as parsed from a duration. In `Config` the name of such a setting ends in `Ms`. */
export type Milliseconds = number & z.$brand<'milliseconds'>;

/**
 * Reports an issue at that path below the value, with a message that completes "KEY …". `beside` is another setting of the same
 * group, which is shown with its place.
 */
export function sentence(context: z.RefinementCtx, at: readonly string[], message: string, beside?: string): void {
  context.addIssue({ code: 'custom', path: [...at], message, params: { sentence: true, beside } });
}

/** A duration as text, from `min` to `max` (texts as well); parsed to milliseconds. */
export function duration(min: string, max: string) {
  const minMs = parseDuration(min) ?? 0;
  const maxMs = parseDuration(max) ?? Number.MAX_SAFE_INTEGER;
  const expected = `a duration such as 500ms, 30s, 10m, 26h or 400d, from ${min} to ${max}`;
  return z
    .string({ error: expected })
    .regex(durationPattern, { error: expected })
    .transform((text, context): Milliseconds => {
      const ms = parseDuration(text);
      if (ms !== null && ms >= minMs && ms <= maxMs) return ms as Milliseconds;
      context.issues.push({ code: 'custom', message: expected, input: text });
      return z.NEVER;
    })
    .register(numberForms, { write: formatDuration, suffix: 'Ms' })
    .register(ranges, { from: min, to: max });
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
    .register(numberForms, { write: formatPercentage, suffix: '' });
}

/** More than any value that makes sense: such a bound is not worth telling. */
const boundless = 1_000_000_000;

/** A whole number, both bounds included. */
export function wholeNumber(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`;
  const form = z.int({ error }).min(min, { error }).max(max, { error });
  return max < boundless ? form.register(ranges, { from: String(min), to: String(max) }) : form;
}

/** One of a few words. */
export function choice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: words.length === 1 ? words[0] : `one of ${words.join(', ')}` });
}

export function yesOrNo() {
  return z.boolean({ error: 'true or false' });
}

/** The path of a file or folder, up to 1,000 characters. */
export function path() {
  const error = 'the path of a file or folder';
  return z.string({ error }).regex(/\S/, { error }).max(1_000, { error });
}

/** A secret that travels in a header: printable ASCII without spaces. @param what it is, in words that end before its form. */
export function secret(what = '') {
  const error = `${what}up to 1000 printable ASCII characters without spaces`;
  return z.string({ error }).regex(/^[\x21-\x7e]{1,1000}$/, { error });
}

/** A text that `problemOf` accepts by returning null; otherwise it returns the expected form. */
export function checkedText(expected: string, problemOf: (text: string) => string | null) {
  return z.string({ error: expected }).superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
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

// Durations: a whole number and a unit, such as `500ms`, `30s`, `10m`, `26h` or `400d`; parsed to milliseconds. A day is 24
// hours; months and years have no unit.

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof unitMs;

/** The form of a duration, for messages and for the JSON Schema. */
const durationPattern = /^(\d{1,9})(ms|s|m|h|d)$/;

/** Milliseconds, or null where the text is no duration. Never throws. */
export function parseDuration(text: string): number | null {
  const [, digits, unit] = durationPattern.exec(text.trim()) ?? [];
  if (digits === undefined || !isUnit(unit)) return null;
  return Number(digits) * unitMs[unit];
}

/** The shortest text that `parseDuration` reads as the same number of milliseconds. `ms` is a whole number. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  const unit = (['d', 'h', 'm', 's'] as const).find((candidate) => ms % unitMs[candidate] === 0) ?? 'ms';
  return `${ms / unitMs[unit]}${unit}`;
}

function isUnit(text: string | undefined): text is Unit {
  return text !== undefined && Object.hasOwn(unitMs, text);
}

// Percentages: `30%` or `2.5%`; parsed to a fraction from 0 to 1.

/** The form of a percentage, for messages and for the JSON Schema. */
const percentagePattern = /^\d{1,3}(\.\d{1,4})?%$/;

/** A fraction from 0 to 1, or null where the text is no percentage up to 100%. Never throws. */
export function parsePercentage(text: string): number | null {
  const trimmed = text.trim();
  if (!percentagePattern.test(trimmed)) return null;
  const percent = Number(trimmed.slice(0, -1));
  return percent <= 100 ? percent / 100 : null;
}

/** The text that `parsePercentage` reads as the same fraction. */
export function formatPercentage(fraction: number): string {
  return `${Number((fraction * 100).toFixed(4))}%`;
}

// Cron expressions.

const expectedCron = 'a cron expression of five fields (minute, hour, day, month, weekday) such as "30 2 * * *"';

/** A cron expression that comes at least once, with one space between its five fields. */
export function cron() {
  return z
    .string({ error: expectedCron })
    .regex(/^\s*(?:\S{1,100}\s+){4}\S{1,100}\s*$/, { error: expectedCron, abort: true })
    .transform((text) => text.trim().split(/\s+/).join(' '))
    .superRefine((text, context) => {
      const problem = cronProblem(text);
      if (problem !== null) sentence(context, [], `is wrong: ${problem}`);
    });
}

/**
 * How croner reads an expression: five fields; `5/15` is a step that begins at 5; without `*` and steps a rule names its
 * times, each of which is due once on the nights when clocks change.
 */
export const cronOptions = { mode: '5-part', sloppyRanges: true, fixedTimeRule: 'no-wildcard' } as const;

interface Field {
  readonly name: string;
  /** Completes "must be …". */
  readonly range: string;
}

const fields: readonly Field[] = [
  { name: 'minute', range: 'from 0 to 59' },
  { name: 'hour', range: 'from 0 to 23' },
  { name: 'day of the month', range: 'from 1 to 31, or L for the last' },
  { name: 'month', range: 'from 1 to 12, or JAN to DEC' },
  { name: 'weekday', range: 'from 0 to 7, where 0 and 7 are Sunday, or SUN to SAT' },
];

const everyTime = fields.map(() => '*');

/**
 * What is wrong with an expression of five fields; null if it is right and comes at least once. croner decides, since it also
 * tells when a schedule is due. Each field is tried alone, with `*` in the others, so that the message can name the wrong one.
 */
export function cronProblem(expression: string): string | null {
  const comes = (each: readonly string[]): boolean => {
    try {
      return new Cron(each.join(' '), { timezone: 'UTC', ...cronOptions }).nextRun(new Date(0)) !== null;
    } catch {
      return false;
    }
  };
  const given = expression.split(' ');
  for (const [index, field] of fields.entries()) {
    const text = given[index] ?? '';
    if (!comes(everyTime.with(index, text))) return wrongField(field, text);
  }
  return comes(given) ? null : `"${expression}" never comes: there is no such date`;
}

function wrongField({ name, range }: Field, text: string): string {
  const backwards = /^(\d+)-(\d+)/.exec(text);
  const [, from = '', to = ''] = backwards ?? [];
  if (backwards !== null && Number(from) > Number(to)) {
    return `the ${name} "${text.slice(0, 40)}" counts backwards; write two parts with a comma between them`;
  }
  return `the ${name} "${text.slice(0, 40)}" must be a number ${range}, or *, lists such as 1,3, ranges such as 1-5, steps such as */2`;
}

// Time zones.

export const expectedZone = 'an IANA time zone such as Europe/Berlin, America/New_York or UTC';

/** An IANA time zone that this machine knows. */
export function timeZone() {
  return z.string({ error: expectedZone }).superRefine((text, context) => {
    if (isTimeZone(text)) return;
    const abbreviation = abbreviationProblem(text);
    if (abbreviation === null) context.addIssue({ code: 'custom', message: expectedZone });
    else sentence(context, [], abbreviation);
  });
}

/**
 * Abbreviations that may be meant for a zone, and what to write. Node reads some of them by an old list of Java: BST is Bangladesh there, and EST
 * has no daylight-saving time.
 */
const abbreviations: Readonly<Record<string, string>> = {
  ACST: 'Australia/Adelaide or Australia/Darwin',
  AEDT: 'Australia/Sydney',
  AEST: 'Australia/Sydney or Australia/Brisbane',
  AST: 'America/Halifax, or Asia/Riyadh for Arabia',
  BRT: 'America/Sao_Paulo',
  BST: 'Europe/London, or Asia/Dhaka for Bangladesh',
  CAT: 'Africa/Maputo',
  CDT: 'America/Chicago',
  CEST: 'Europe/Berlin or Europe/Paris',
  CST: 'America/Chicago, or Asia/Shanghai for China',
  EAT: 'Africa/Nairobi',
  EDT: 'America/New_York',
  EEST: 'Europe/Athens or Europe/Helsinki',
  EST: 'America/New_York, or America/Panama without daylight-saving time',
  HST: 'Pacific/Honolulu',
  IST: 'Asia/Kolkata for India, Europe/Dublin for Ireland, or Asia/Jerusalem for Israel',
  JST: 'Asia/Tokyo',
  MDT: 'America/Denver',
  MSK: 'Europe/Moscow',
  MST: 'America/Denver, or America/Phoenix without daylight-saving time',
  NZST: 'Pacific/Auckland',
  PDT: 'America/Los_Angeles',
  PST: 'America/Los_Angeles',
  SAST: 'Africa/Johannesburg',
};

/** Others of that list, and of no other. */
const oddAbbreviations = /^(?:ACT|AET|AGT|ART|BET|CNT|CTT|ECT|IET|MIT|NET|NST|PLT|PNT|PRT|SST|VST)$/;

/** Completes "KEY …"; null of what is no abbreviation that could be misread. */
function abbreviationProblem(name: string): string | null {
  const upper = name.trim().toUpperCase();
  const meant = Object.hasOwn(abbreviations, upper) ? abbreviations[upper] : undefined;
  if (meant === undefined && !oddAbbreviations.test(upper)) return null;
  const write = meant === undefined ? 'write region and city, such as Europe/Berlin' : `write ${meant}`;
  return `is an abbreviation (${upper}), which names no zone for sure: ${write}`;
}

/** Offsets such as `+02:00` are not accepted: they have no daylight-saving time. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/.test(name) || abbreviationProblem(name) !== null)
    return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The zone that was most likely meant; null where none is close. */
export function closestZone(name: string): string | null {
  return closest(name, ['UTC', ...Intl.supportedValuesOf('timeZone')]);
}

/**
 * The zone where the configuration names none: that of `TZ` where it is one, or the path of its file, else the machine's, else UTC. `misnamed`: what
 * `TZ` holds instead of a zone, and what is wrong with it; null where it is one, or not set.
 */
export function zoneOfMachine(env: Readonly<Record<string, string | undefined>>): {
  readonly zone: string;
  readonly misnamed: { readonly name: string; readonly problem: string } | null;
} {
  const named = env.TZ?.trim().replace(/^:/, '') ?? '';
  const inPath = /^\/.*\/zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(named)?.[1] ?? named;
  if (isTimeZone(inPath)) return { zone: inPath, misnamed: null };
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const zone = timeZone !== undefined && isTimeZone(timeZone) ? timeZone : 'UTC';
  if (named === '') return { zone, misnamed: null };
  const meant = named.startsWith('/') ? null : closestZone(named);
  const unknown = `is no IANA time zone${meant === null ? '' : ` (did you mean ${meant}?)`}`;
  return { zone, misnamed: { name: named, problem: abbreviationProblem(named) ?? unknown } };
}

// Hosts, judged by their name alone: nothing is resolved here.

/** Whether what listens on this host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Loopback; an address of a private or link-local range, or of the range that providers share among customers; a name without
 * a dot, as in a compose file; or one under `.localhost`, `.local`, `.internal`. `host` is as in `URL.hostname`: lower-case,
 * IPv6 in brackets.
 */
export function isPrivateHost(host: string): boolean {
  if (isLoopback(host)) return true;
  if (host.startsWith('[')) return /^\[(?:f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):/.test(host);
  if (/^\d+(\.\d+){3}$/.test(host)) {
    const [first = 0, second = 0] = host.split('.').map(Number);
    if (first === 172) return second >= 16 && second <= 31;
    if (first === 100) return second >= 64 && second <= 127;
    return first === 10 || (first === 192 && second === 168) || (first === 169 && second === 254);
  }
  return !host.includes('.') || /\.(?:localhost|local|internal)$/.test(host);
}

// The structure of schemas.

/** The schema below `default`, `prefault`, `nullable` and `exactOptional`. Ends since each step goes one wrapper down. */
export function coreOf(schema: z.core.$ZodType): z.core.$ZodType {
  let core = schema;
  for (let inner = innerOf(core); inner !== null; inner = innerOf(core)) core = inner;
  return core;
}

/** The schema that this one wraps; null where it wraps none. */
export function innerOf(schema: z.core.$ZodType): z.core.$ZodType | null {
  const wraps =
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodExactOptional;
  return wraps ? schema.def.innerType : null;
}
