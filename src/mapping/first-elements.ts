/**
 * People whom a mapping leaves out, since it reads the first element of a list alone: `contacts[0].email` of an account with several contacts. What is
 * said of them is complete after the last record.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { ignoredBy } from '#src/sources/column-name.ts';
import { mayHoldRecords } from '#src/sources/json-wrapper.ts';
import type { ObjectRow } from '#src/sources/row.ts';
import { columnsOf } from './bind-mapping.ts';
import { isJsonObject } from './cell.ts';
import { finderOf, nameOfStep } from './json-path.ts';
import { isListOfPeople } from './list-element.ts';
import type { Mapping } from './mapping-schema.ts';
import { referencesIn, type Value } from './value-schema.ts';

interface FirstElements {
  /** Looks at a record; also at one that is known already and needs no mapping. */
  see(row: ObjectRow): void;
  /** A warning for each list of which further elements were met. */
  list(): readonly Problem[];
}

/**
 * Lists hold people that are called so, or that a first or last name is read from; and those of the key where an address or a number is read from the same
 * list: ids alone are of one person, as other systems know it. What the mapping ignores is none.
 */
export function watchFirstElements(mapping: Mapping): FirstElements {
  const { key, fields, emails, phones } = mapping;
  const listsOf = (values: readonly (Value | undefined)[]): readonly string[] =>
    values
      .flatMap((value) => (value === undefined ? [] : referencesIn(value)))
      .flatMap(({ reference }) => listBefore(String(reference)));
  const others = columnsOf(mapping).map(String);
  const lastName = (list: string): string => nameOfStep(list.slice(list.lastIndexOf('.') + 1));
  const ofNames = listsOf([fields.firstName, fields.lastName]);
  const ofAddresses = new Set(listsOf([...emails, ...phones]));
  const ofKey = listsOf([key]).filter((list) => ofAddresses.has(list));
  const ofPeople = others.flatMap(listBefore).filter((list) => isListOfPeople(lastName(list)));
  const isIgnored = ignoredBy(mapping);
  const open = [...new Set([...ofNames, ...ofKey, ...ofPeople])]
    .filter((list) => !withAllAbove(list).some(isIgnored))
    .filter((list) => mayHoldRecords(lastName(list)))
    .filter(
      (list) =>
        !others.some((path) => path === list || (path.startsWith(`${list}[`) && !path.startsWith(`${list}[0]`))),
    )
    .map((list) => ({ list, find: finderOf(list), line: 0, records: 0, elements: 0 }));
  return {
    see: ({ object, line }) => {
      for (const one of open) {
        const { raw } = one.find(object);
        const more = Array.isArray(raw) ? raw.slice(1).filter(isJsonObject).length : 0;
        if (more === 0) continue;
        if (one.records === 0) one.line = line;
        one.records += 1;
        one.elements += more;
      }
    },
    list: () => open.filter(({ records }) => records > 0).map(othersLeftOut),
  };
}

/** `accounts[0].people[0].id` → the list that the first `[0]` is of. */
function listBefore(path: string): readonly string[] {
  const at = path.indexOf('[0].');
  return at < 0 ? [] : [path.slice(0, at)];
}

/** `crm.people` → crm, crm.people. */
function withAllAbove(list: string): readonly string[] {
  const steps = list.split('.');
  return steps.map((_, index) => steps.slice(0, index + 1).join('.'));
}

interface Met {
  readonly list: string;
  readonly line: number;
  readonly records: number;
  readonly elements: number;
}

function othersLeftOut({ list, line, records, elements }: Met): Problem {
  const people = `${elements} more ${elements === 1 ? 'element' : 'elements'} of "${list}"`;
  const where = records === 1 ? '1 record' : `${records} records`;
  const message = `${people} in ${where} ${elements === 1 ? 'is' : 'are'} not read: the mapping takes the first of each list alone`;
  const hint = `If they are people, write a record for each of them, as jq -c '.${list}[]' does for one record per line, and jq -c '.[].${list}[]' for a list of records. If not, name "${list}" in ignore of the mapping.`;
  return { code: 'elementsLeftOut', line, field: list, value: null, message, hint };
}
