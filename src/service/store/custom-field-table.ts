/** The custom-field definitions of a workspace as rows. The interface only reads them (`facts.md`, "Custom fields"). */
import type { DatabaseSync } from 'node:sqlite';
import { invariant } from '#src/errors.ts';
import { customFieldTypes } from '#src/wire/contact.ts';
import type { CustomFieldDefinition } from '../custom-fields/definition.ts';

export interface CustomFieldTable {
  readonly insert: (definition: CustomFieldDefinition) => void;
  /** In order of insertion. */
  readonly all: () => readonly CustomFieldDefinition[];
}

export function createCustomFieldTable(database: DatabaseSync): CustomFieldTable {
  const insert = database.prepare('INSERT INTO custom_fields (key, name, type) VALUES (?, ?, ?)');
  const all = database.prepare('SELECT key, name, type FROM custom_fields ORDER BY seq');
  return {
    insert: ({ key, name, type }) => {
      insert.run(key, name, type);
    },
    all: () =>
      all.all().map((row) => {
        const type = customFieldTypes.find((one) => one === row.type);
        invariant(type !== undefined, 'the store holds custom fields of the seven types only');
        return { key: String(row.key), name: String(row.name), type };
      }),
  };
}
