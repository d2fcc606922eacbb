/** The contacts of a workspace as rows. Works inside or outside a transaction; commits are the caller's. */
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { invariant } from '#src/errors.ts';
import type { CustomFieldDefinition, CustomFieldDefinitions, StoredContact } from '#src/service/stored-records.ts';
import type { CustomFieldTable } from './workspace-tables.ts';

export interface ContactTable {
  /** Answers the contact as a read shows it: JSON text. The externalId must be free: see `idOfExternalId`. */
  readonly insert: (contact: StoredContact) => string;
  /** False, and nothing is kept, where the contact as a read shows it is longer than `lengthMax`, in UTF-16 units, and than it was. */
  readonly replace: (contact: StoredContact, lengthMax: number) => boolean;
  /** Answers whether there was one. */
  readonly remove: (id: string) => boolean;
  readonly find: (id: string) => StoredContact | null;
  /** The contact as a read shows it: JSON text. */
  readonly findDocument: (id: string) => string | null;
  readonly idOfExternalId: (externalId: string) => string | null;
  /** In order of creation. */
  readonly page: ContactPage;
  /** All of them in order of creation, read as they are taken. */
  readonly each: () => Iterable<StoredContact>;
}

export function createContactTable(database: DatabaseSync, documents: ContactDocuments): ContactTable {
  const insert = database.prepare(
    'INSERT INTO contacts (id, external_id, source, created_ms, document) VALUES (?, ?, ?, ?, ?)',
  );
  const replace = database.prepare('UPDATE contacts SET external_id = ?, source = ?, document = ? WHERE id = ?');
  const remove = database.prepare('DELETE FROM contacts WHERE id = ?');
  const find = prepareRowArrays(database, 'SELECT document FROM contacts WHERE id = ?');
  const idOfExternalId = database.prepare('SELECT id FROM contacts WHERE external_id = ?');
  const page = createContactPages(database);
  const findDocument = (id: string): string | null => {
    const row = find.get(id);
    return row === undefined ? null : String(row[0]);
  };
  return {
    insert: (contact) => {
      const createdMs = Date.parse(contact.createdAt);
      const document = documents.write(contact);
      insert.run(contact.id, contact.externalId, contact.source, createdMs, document);
      return document;
    },
    replace: (contact, lengthMax) => {
      const document = documents.write(contact);
      if (document.length > lengthMax && document.length > (findDocument(contact.id)?.length ?? 0)) return false;
      replace.run(contact.externalId, contact.source, document, contact.id);
      return true;
    },
    remove: (id) => remove.run(id).changes > 0,
    find: (id) => {
      const document = findDocument(id);
      return document === null ? null : documents.read(document);
    },
    findDocument,
    idOfExternalId: (externalId) => {
      const row = idOfExternalId.get(externalId);
      return row === undefined ? null : String(row.id);
    },
    page,
    each: function* () {
      const rows = database.prepare('SELECT document FROM contacts ORDER BY seq').iterate();
      for (const { document } of rows) yield documents.read(String(document));
    },
  };
}

/**
 * Pages of contacts, in order of creation: one statement for each combination of filters.
 *
 * `INDEXED BY` fails rather than walk the table, whatever the planner thinks of it. No statement sorts what it does
 * not find in order: of 20 externalIds, sorting costs SQLite as much as finding them
 * (`test/service/store/query-plan.test.ts`). Parameters have no names, since a name costs as much as two rows.
 */
export interface ContactQuery {
  /** Null: any. Several are alternatives; matched exactly, byte by byte. */
  readonly externalIds: readonly string[] | null;
  readonly sources: readonly string[] | null;
  /** Rows after this place; 0 for the first page. */
  readonly afterSeq: number;
  /** Rows created at this instant or before. */
  readonly createdMsMax: number;
  readonly limit: number;
}

interface ContactRow {
  readonly seq: number;
  /** The contact as a read shows it: JSON text. */
  readonly document: string;
}

type ContactPage = (query: ContactQuery) => readonly ContactRow[];

const inRange = 'seq > ? AND created_ms <= ?';
const isOneOf = 'IN (SELECT value FROM json_each(?))';
const byExternalIdSql = `
SELECT seq, document FROM contacts INDEXED BY contacts_by_external_id
WHERE external_id ${isOneOf} AND ${inRange}`;

function createContactPages(database: DatabaseSync): ContactPage {
  const all = prepareRowArrays(database, `SELECT seq, document FROM contacts WHERE ${inRange} ORDER BY seq LIMIT ?`);
  const byExternalId = prepareRowArrays(database, byExternalIdSql);
  const byExternalIdAndSource = prepareRowArrays(database, `${byExternalIdSql} AND source ${isOneOf}`);
  const seqsOfSource = prepareRowArrays(
    database,
    `SELECT seq FROM contacts INDEXED BY contacts_by_source WHERE source = ? AND ${inRange} ORDER BY seq LIMIT ?`,
  );
  const atSeqs = prepareRowArrays(database, `SELECT seq, document FROM contacts WHERE seq ${isOneOf} ORDER BY seq`);

  /** At most one row for each externalId. */
  const ofExternalIds = (externalIds: readonly string[], query: ContactQuery): readonly RowArray[] => {
    const { sources, afterSeq, createdMsMax, limit } = query;
    const ids = JSON.stringify(externalIds);
    const rows =
      sources === null
        ? byExternalId.all(ids, afterSeq, createdMsMax)
        : byExternalIdAndSource.all(ids, afterSeq, createdMsMax, JSON.stringify(sources));
    return rows.toSorted(([one], [other]) => Number(one) - Number(other)).slice(0, limit);
  };

  /** The first rows of each source, merged: the index holds them in order only source by source. */
  const ofSources = (sources: readonly string[], { afterSeq, createdMsMax, limit }: ContactQuery) => {
    const seqs = [...new Set(sources)]
      .flatMap((source) => seqsOfSource.all(source, afterSeq, createdMsMax, limit).map(([seq]) => Number(seq)))
      .sort((one, other) => one - other);
    return atSeqs.all(JSON.stringify(seqs.slice(0, limit)));
  };

  const rowsOf = (query: ContactQuery): readonly RowArray[] => {
    const { externalIds, sources, afterSeq, createdMsMax, limit } = query;
    if (externalIds !== null) return ofExternalIds(externalIds, query);
    return sources === null ? all.all(afterSeq, createdMsMax, limit) : ofSources(sources, query);
  };
  return (query) => rowsOf(query).map(([seq, document]) => ({ seq: Number(seq), document: String(document) }));
}

/**
 * The text in which the store keeps a contact: the contact as a read shows it (2.1 to 2.3), names and types of its
 * custom fields included. A read hands the text out as it is; only a change takes it apart.
 */
interface ContactDocuments {
  readonly write: (contact: StoredContact) => string;
  /** `document` is what `write` made, and nothing else. */
  readonly read: (document: string) => StoredContact;
}

export function createContactDocuments(customFields: Pick<CustomFieldTable, 'all'>): ContactDocuments {
  // A definition never changes, but a store that is being filled gets more of them.
  let definitions: ReadonlyMap<string, CustomFieldDefinition> = new Map();
  return {
    write: (contact) => {
      if (contact.customFields.some(({ key }) => !definitions.has(key))) {
        definitions = new Map(customFields.all().map((one) => [one.key, one]));
      }
      return JSON.stringify(contactReplyData(contact, definitions, 'read'));
    },
    read: (document) => {
      const contact = JSON.parse(document) as StoredContact;
      return { ...contact, customFields: contact.customFields.map(({ id, key, value }) => ({ id, key, value })) };
    },
  };
}

/** 2.3: create and read replies carry an id in a custom field item, the update reply does not. */
type ReplyKind = 'create' | 'read' | 'update';

/** A contact as replies show it (2.1 to 2.3). */
export function contactReplyData(
  contact: StoredContact,
  definitions: CustomFieldDefinitions,
  kind: ReplyKind,
): Readonly<Record<string, unknown>> {
  const { id, externalId, source, sourceUrl, defaultFields, createdAt, updatedAt, createdByUserId } = contact;
  const customFields = contact.customFields.map((field) => {
    const definition = definitions.get(field.key);
    invariant(definition !== undefined, 'a stored custom field has a definition');
    const { name, key, type } = definition;
    return { name, key, ...(kind === 'update' ? {} : { id: field.id }), type, value: field.value };
  });
  return { id, externalId, source, sourceUrl, defaultFields, customFields, createdAt, updatedAt, createdByUserId };
}

/** Statements whose rows come as arrays, in the order of their columns: half the cost of rows as objects. */
type RowArray = readonly SQLOutputValue[];

interface RowArrays {
  /** The first row; undefined without one. */
  readonly get: (...parameters: readonly SQLInputValue[]) => RowArray | undefined;
  readonly all: (...parameters: readonly SQLInputValue[]) => readonly RowArray[];
}

/** `sql` has parameters without names. */
function prepareRowArrays(database: DatabaseSync, sql: string): RowArrays {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  // `setReturnArrays` changes what `get` and `all` answer, but the declared type of a statement cannot follow: it says
  // objects whatever was set. The two types share nothing, so the cast goes through `unknown`; here and nowhere else.
  return statement as unknown as RowArrays;
}
