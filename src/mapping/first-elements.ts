/**
 * People whom a mapping leaves out, since it reads the first element of a list alone: `contacts[0].email` of an account with several contacts. What is
 * said of them is complete after the last record.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { mayHoldRecords } from '#src/sources/json-wrapper.ts';
import type { ObjectRow } from '#src/sources/row.ts';
import { columnsOf } from './bind-mapping.ts';
import { isJsonObject } from './cell.ts';
import { finderOf, nameOfStep } from './json-path.ts';
import { isListOfPeople } from './list-element.ts';
import type { Mapping } from './mapping-schema.ts';
import { referencesIn } from './value-schema.ts';

interface FirstElements {
  /** Looks at a record; also at one that is known already and needs no mapping. */
  see(row: ObjectRow): void;
  /** A warning for each list of which further elements were met. */
  list(): readonly Problem[];
}

/** Lists hold people that the key or the name of the contact is read from, or that are called so. */
export function watchFirstElements(mapping: Mapping): FirstElements {
  const { key, fields } = mapping;
  const ofPerson = [key, fields.firstName, fields.lastName].filter((value) => value !== undefined);
  const paths = ofPerson.flatMap((value) => referencesIn(value).map(({ reference }) => String(reference)));
  const others = columnsOf(mapping).map(String);
  const lastName = (list: string): string => nameOfStep(list.slice(list.lastIndexOf('.') + 1));
  const ofPeople = others.flatMap(listBefore).filter((list) => isListOfPeople(lastName(list)));
  const open = [...new Set([...paths.flatMap(listBefore), ...ofPeople])]
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
  const hint = `If they are people, write a record for each of them, as jq -c '.${list}[]' does for one record per line.`;
  return { code: 'elementsLeftOut', line, field: list, value: null, message, hint };
}
