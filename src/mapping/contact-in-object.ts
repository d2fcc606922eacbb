/**
 * Contact data inside of a member of JSON that by its name should hold it, and that nothing maps: `{"phone": {"cc": "49", "nsn": "…"}}`,
 * `{"phones": [{"nr": "…"}]}`. Pure.
 */
import { normaliseHeader } from '#src/sources/column-name.ts';
import { words, wordsOf } from '#src/sources/number-words.ts';
import type { JsonValue } from '#src/sources/row.ts';
import { isJsonObject, type JsonObject } from './cell.ts';
import { type ContactColumn, contactColumnOf, isAboutContactData, labelByWords } from './contact-columns.ts';
import { loneValueMemberOf } from './list-element.ts';
import { isPlaceholder } from './placeholder.ts';
import { mayHoldValue } from './stray-value.ts';
import { unwrapped, unwrappedValue } from './wrapped-value.ts';

/** A text or number inside, with its path (`phones[].nr`) and the name that is nearest to it; none for an element of a list by itself. */
interface Leaf {
  readonly path: string;
  readonly name: string | null;
  readonly value: string | number;
}

const depthMax = 4;
const phoneDigitsMin = 7;

/** With these as its whole name, an object is as likely the first or last of something else: `{"last": {"event": "login"}}`. */
const bareNames: ReadonlySet<string> = new Set(['first', 'last']);

/**
 * The column, with the line of a mapping that maps what is inside of the value. Null where that holds nothing of what the name says, as in
 * `{"email": {"verified": true}}`; in doubt, too, since it stops the file.
 */
export function contactInside(column: ContactColumn, name: string, value: JsonValue | undefined): ContactColumn | null {
  if (!isJsonObject(value) && !Array.isArray(value)) return null;
  if (bareNames.has(normaliseHeader(name))) return null;
  const readable = new Set(
    leavesOf(value, { path: name, name: null }, 1)
      .filter((leaf) => isWhole(column.kind, leaf))
      .map(({ path }) => path),
  );
  const isInParts = column.kind === 'phone' && holdsParts(value, 1);
  if (readable.size === 0 && !isInParts) return null;
  const isElementRead =
    Array.isArray(value) && value.every((one) => isJsonObject(one) && loneValueMemberOf(one, name) !== null);
  if (isElementRead) return column;
  const [path] = readable;
  // A number of which a part is elsewhere is no whole one.
  const isOne = readable.size === 1 && !isInParts && path !== undefined;
  const inside = isOne ? path : `${name}${Array.isArray(value) ? '[]' : ''}.…`;
  return { ...column, line: column.line.replace(/"(?:[^"\\]|\\.)*"/, () => JSON.stringify(inside)) };
}

function leavesOf(raw: JsonValue, at: Pick<Leaf, 'path' | 'name'>, depth: number): readonly Leaf[] {
  const value = unwrappedValue(raw);
  if (typeof value === 'string' || typeof value === 'number') return [{ ...at, value }];
  if (depth > depthMax) return [];
  if (Array.isArray(value))
    return value.flatMap((one: JsonValue) => leavesOf(one, { ...at, path: `${at.path}[]` }, depth + 1));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    isOfOther(name) ? [] : leavesOf(one, { path: `${at.path}.${name}`, name }, depth + 1),
  );
}

/** Of messages, and of who has to do with the address or the number: `sender`, `verifiedBy`. */
const othersWords = words(
  `sender from to cc bcc reply replyto by via source provider message thread campaign referrer manager assistant owner agent
  author creator support unsubscribe`,
);

function isOfOther(name: string): boolean {
  return wordsOf(name).some((word) => othersWords.has(word));
}

function isWhole(kind: ContactColumn['kind'], leaf: Leaf): boolean {
  if (kind === 'phone') return isWholePhone(leaf);
  const { name, value } = leaf;
  if (kind === 'email') {
    return (name === null || !isAboutContactData(name)) && mayHoldValue({ [name ?? '']: value }, 'emails');
  }
  const isNamed = name !== null && (/^(?:value|text|full)$/i.test(name) || contactColumnOf(name) !== null);
  return isNamed && /\p{L}/u.test(`${value}`) && !isPlaceholder(`${value}`, 'company');
}

/** Digits without the code of a country may be any number: the name has to say that they are one to call. */
function isWholePhone({ name, value }: Leaf): boolean {
  if (!mayHoldValue({ [name ?? '']: value }, 'phones')) return false;
  return name === null || isNameOfNumber(name) || (typeof value === 'string' && /^(?:tel:)?\(?\+/.test(value.trim()));
}

const writtenNames = /^(?:e164|msisdn|international|national|full|raw|text|formatted|digits|landline|voice)/;

/** `nr`, `value`, `main`, `work`: by itself, or beside the name of the list it is in. */
function isNameOfNumber(name: string): boolean {
  return writtenNames.test(normaliseHeader(name)) || labelByWords(`${name} phone`, 'phone') !== null;
}

/** In the form in which names are compared. A code of more digits is one that was sent, or counts something. */
const codeNames =
  /^(?:cc|ac|country|(?:country|area|city|dial|dialing|calling|national)?(?:code|prefix)|countrycallingcode|area|exchange|vorwahl|landesvorwahl|ortsvorwahl|indicatif)$/;
const codeDigitsMax = 5;
const restNames = /^(?:local|nsn|(?:national|local|subscriber)(?:number)?|line|linenumber|durchwahl)$/;

/** Whether one object holds a number in several members, such as the code of its country and the rest. */
function holdsParts(raw: JsonValue, depth: number): boolean {
  const value = unwrapped(raw);
  if (depth > depthMax || typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((one: JsonValue) => holdsParts(one, depth + 1));
  const others = Object.entries(value).filter(([name]) => !isOfOther(name));
  return arePartsOfNumber(value as JsonObject) || others.some(([, one]) => holdsParts(one, depth + 1));
}

function arePartsOfNumber(element: JsonObject): boolean {
  const parts = Object.entries(element).flatMap(([name, one]) => {
    const digits = digitsOfPart(unwrapped(one));
    const isCode = codeNames.test(normaliseHeader(name)) && digits <= codeDigitsMax;
    const isRest = !isCode && (restNames.test(normaliseHeader(name)) || isNameOfNumber(name));
    return digits > 0 && (isCode || isRest) ? [{ digits, isCode }] : [];
  });
  const sum = parts.reduce((all, { digits }) => all + digits, 0);
  return parts.some(({ isCode }) => isCode) && parts.some(({ isCode }) => !isCode) && sum >= phoneDigitsMin;
}

/** Of a text with signs between digits: no date, link or id of letters, and not the whole number. */
function digitsOfPart(value: JsonValue): number {
  if (typeof value !== 'string' && typeof value !== 'number') return 0;
  const text = `${value}`.trim();
  const digits = digitsIn(text);
  return /^\+?[\d\s()./-]+$/.test(text) && !(text.startsWith('+') && digits >= phoneDigitsMin) ? digits : 0;
}

function digitsIn(text: string): number {
  return text.replace(/\D/g, '').length;
}
