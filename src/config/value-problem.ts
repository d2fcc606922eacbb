/** What is wrong with one value, as a sentence that starts with its place and names the expected form. */
import type { GivenValue } from './given-value.ts';
import type { Setting } from './settings.ts';
import { closestZone, expectedZone } from './time-zone.ts';

const shownCharactersMax = 60;

/** Null where the value is right. Never repeats a secret, nor a URL that may hold one. */
export function valueProblem({ setting, value, origin }: GivenValue): string | null {
  if (setting.traits.environmentOnly === true && origin.kind !== 'environment' && value !== null) {
    const hint = `set ${setting.variables[0]}, or name a file of mode 0600 with ${setting.key}File`;
    return `${origin.name}: ${setting.key} must not stand here, where others could read it: ${hint}`;
  }
  const result = setting.schema.safeParse(value);
  if (result.success) return null;
  const issue = result.error.issues[0];
  const expected = issue?.message ?? 'something else';
  const wrong = Array.isArray(value) && typeof issue?.path[0] === 'number' ? value[issue.path[0]] : value;
  return `${origin.name}: ${setting.key} must be ${expected}${shownValue(setting, wrong)}${meant(expected, wrong)}`;
}

/** `, not …`, or nothing where showing the value could show a secret. */
function shownValue(setting: Setting, value: unknown): string {
  if (value === null || value === undefined) return ', not empty';
  if (typeof value === 'object') return Array.isArray(value) ? ', not a list' : ', not a group of keys';
  if (setting.traits.secret !== undefined) return '';
  const text = String(value);
  if (/[@?]/.test(text)) return '';
  const short = text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text;
  return `, not ${typeof value === 'string' ? JSON.stringify(short) : short}`;
}

/** Of the words a person may mistype, time zones are those with a list to look into. */
function meant(expected: string, value: unknown): string {
  const zone = expected === expectedZone && typeof value === 'string' ? closestZone(value) : null;
  return zone === null ? '' : `; did you mean ${zone}?`;
}
