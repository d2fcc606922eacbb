/**
 * Values on their way into PostgreSQL and out of it.
 *
 * PostgreSQL's text holds every character but U+0000. A text that has it is stored in another spelling: U+FDD0, which Unicode
 * reserves for uses like this one, begins an escape. So each text comes back as it was given.
 */
import pg from 'pg';

export type Value = string | number | null | Uint8Array;
/** A list becomes an array of PostgreSQL, which a statement unfolds with `unnest`. */
export type Parameter = Value | readonly Value[];

const mark = '\uFDD0';

export function toText(text: string): string {
  if (!text.includes('\0') && !text.includes(mark)) return text;
  return text.replaceAll(mark, `${mark}d`).replaceAll('\0', `${mark}0`);
}

export function fromText(stored: string): string {
  if (!stored.includes(mark)) return stored;
  return stored.replaceAll(`${mark}0`, '\0').replaceAll(`${mark}d`, mark);
}

/** As the driver is given it: arrays as literals, since it would make them item by item. */
export function toParameter(parameter: Parameter): string | number | null | Uint8Array {
  if (typeof parameter === 'string') return toText(parameter);
  return isList(parameter) ? `{${parameter.map(toItem).join(',')}}` : parameter;
}

function isList(parameter: Parameter): parameter is readonly Value[] {
  return Array.isArray(parameter);
}

function toItem(value: Value): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return `${value}`;
  if (typeof value !== 'string')
    return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}"`;
  const text = toText(value);
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
}

const types = pg.types.builtins;

/** How the driver reads columns: counts and instants are below 2^53. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (format !== 'binary' && oid === types.INT8) return Number;
    if (format !== 'binary' && oid === types.TEXT) return fromText;
    return pg.types.getTypeParser(oid, format);
  },
};
