/** What is wrong with one value, as a sentence that starts with its place and names the expected form. */
import type { GivenValue } from './given-value.ts';
import type { Setting } from './settings.ts';

const shownCharactersMax = 60;

/** Null where the value is right. Never repeats a secret, nor a URL that may hold one. */
export function valueProblem({ setting, value, origin }: GivenValue): string | null {
  if (setting.traits.environmentOnly === true && origin.kind !== 'environment' && value !== null) {
    const hint = `set ${setting.variables[0]}, or name a file of mode 0600 with ${setting.section}.${setting.name}File`;
    return `${origin.name}: ${setting.key} must not stand here, where others could read it: ${hint}`;
  }
  const result = setting.schema.safeParse(value);
  if (result.success) return null;
  const expected = result.error.issues[0]?.message ?? 'something else';
  return `${origin.name}: ${setting.key} must be ${expected}${shownValue(setting, value)}`;
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
