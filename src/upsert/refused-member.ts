/**
 * What a service complains about when it refuses a write: it names a member of the body by its place, and a person knows the field. Pure.
 */
import { customFieldName } from '#src/contacts/desired.ts';
import type { CreateContactBody, UpdateContactBody } from '#src/wire/contact.ts';

export interface RefusedMember {
  /** `custom.seats`; the path of any other member as the service names it. */
  readonly field: string;
  /** What was sent; null for what is no value by itself. */
  readonly value: string | null;
}

const valueCharsMax = 200;

/** @param path as `customFields.2.value` or `customFields[2].value`. */
export function refusedMember(path: string, body: CreateContactBody | UpdateContactBody | null): RefusedMember {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  const index = steps[0] === 'customFields' ? Number(steps[1]) : Number.NaN;
  const item = body?.customFields?.[index];
  if (item !== undefined) return { field: customFieldName(item.key), value: shown(item.value) };
  return { field: path, value: shown(steps.reduce(memberOf, body)) };
}

function memberOf(holder: unknown, step: string): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, step)
    ? holder[step as keyof typeof holder]
    : undefined;
}

function shown(value: unknown): string | null {
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  const text = isList ? value.join('; ') : typeof value === 'object' || value === undefined ? null : String(value);
  return text === null ? null : [...text].slice(0, valueCharsMax).join('');
}
