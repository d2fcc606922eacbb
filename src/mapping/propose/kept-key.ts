/**
 * A feed has a mapping already, and another is proposed in its place: under another key every person would be made anew. So the key that
 * is there stays, as long as the file has all of its columns, and the prefix stays in any case. Pure.
 */
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { type ColumnRef, referencesIn } from '#src/mapping/value-schema.ts';
import { spellingsOf } from '#src/mapping/wrapped-value.ts';
import { normaliseHeader } from '#src/sources/column-name.ts';
import { listNames } from '#src/sources/row.ts';
import type { KeyChoice } from './choose-key.ts';
import type { ColumnFacts, FileFacts } from './column-facts.ts';
import type { JudgedColumn } from './propose-columns.ts';

/** Those of the columns of the mapping's key that the file lacks. */
export function keyColumnsLacked({ key }: Pick<Mapping, 'key'>, { columns }: FileFacts): readonly ColumnRef[] {
  return referencesIn(key).flatMap(({ reference }) =>
    columns.some((one) => isColumn(one, reference)) ? [] : [reference],
  );
}

function isColumn({ name, isNamed, firstPath, position }: ColumnFacts, reference: ColumnRef): boolean {
  // Which column is at a position is known of a file without a header alone.
  if (typeof reference === 'number') return !isNamed && position === reference;
  const names = [...(isNamed ? [name] : []), ...(firstPath === null ? [] : [firstPath])];
  const wanted = spellingsOf(reference);
  return names.some((one) => wanted.includes(normaliseHeader(one)));
}

/** The key of the mapping as a choice. An e-mail address that is the key stays an address of the contact. */
export function keptChoice({ key }: Pick<Mapping, 'key'>, columns: readonly JudgedColumn[]): KeyChoice {
  const reference = typeof key === 'object' ? key.column : key;
  const column = reference === undefined ? undefined : columns.find(({ facts }) => isColumn(facts, reference));
  return {
    column: column?.facts ?? null,
    lowerCase: column?.meaning.kind === 'items' && column.meaning.list === 'emails',
    confidence: 'certain',
    reason: 'the key of the mapping which is there',
    remarks: ['the key is that of the mapping which is there, so that people keep their keys'],
    advice: '',
  };
}

/** Of a key that cannot stay. */
export function changedKeyRemark(lacked: readonly ColumnRef[]): string {
  const names = lacked.map((one) => (typeof one === 'number' ? `column ${one}` : one));
  return `the key is another than that of the mapping which is there, since the file lacks ${listNames(names)} of it: a person whose key changes becomes a new contact`;
}

/**
 * What it means that one mapping takes the place of another: a sentence where the key changes, or its prefix, with what to do about it; null
 * where both make the same keys.
 */
export function keyChange(before: Mapping, now: Mapping): string | null {
  const [old, other] = [keyText(before), keyText(now)];
  if (old === other) return null;
  return `the key changes: it was ${old}, and is ${other} now. Every person whose key changes is made anew with the next import, beside the contact that is there. To keep the keys, write the key as it was into the mapping before you import, with the names that its columns have now; patchbay plan shows what would be made`;
}

/** As a mapping writes it. */
function keyText({ key, keyPrefix }: Pick<Mapping, 'key' | 'keyPrefix'>): string {
  return [
    `key: ${valueText(key)}`,
    ...(keyPrefix === undefined ? [] : [`keyPrefix: ${JSON.stringify(keyPrefix)}`]),
  ].join(', ');
}

/** A value of a mapping in one line: JSON is YAML. */
export function valueText(value: unknown): string {
  return JSON.stringify(value);
}
