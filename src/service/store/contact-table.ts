/** The contacts of a workspace as rows. Works inside or outside a transaction; commits are the caller's. */
import type { DatabaseSync } from 'node:sqlite';
import type { StoredContact } from '../contacts/stored-contact.ts';

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

export interface ContactRow {
  readonly seq: number;
  readonly contact: StoredContact;
}

export interface ContactTable {
  /** The externalId must be free: see `idOfExternalId`. */
  readonly insert: (contact: StoredContact) => void;
  readonly replace: (contact: StoredContact) => void;
  /** Answers whether there was one. */
  readonly remove: (id: string) => boolean;
  readonly find: (id: string) => StoredContact | null;
  readonly idOfExternalId: (externalId: string) => string | null;
  /** In order of creation. */
  readonly page: (query: ContactQuery) => readonly ContactRow[];
}

/** One statement for each combination of filters, so that each uses its index. */
const pageSql = (filters: string) => `
SELECT seq, document FROM contacts
WHERE seq > :afterSeq AND created_ms <= :createdMsMax ${filters} ORDER BY seq LIMIT :limit`;
const byExternalIds = 'AND external_id IN (SELECT value FROM json_each(:externalIds))';
const bySources = 'AND source IN (SELECT value FROM json_each(:sources))';

export function createContactTable(database: DatabaseSync): ContactTable {
  const insert = database.prepare(
    'INSERT INTO contacts (id, external_id, source, created_ms, document) VALUES (?, ?, ?, ?, ?)',
  );
  const replace = database.prepare('UPDATE contacts SET external_id = ?, source = ?, document = ? WHERE id = ?');
  const remove = database.prepare('DELETE FROM contacts WHERE id = ?');
  const find = database.prepare('SELECT document FROM contacts WHERE id = ?');
  const idOfExternalId = database.prepare('SELECT id FROM contacts WHERE external_id = ?');
  const pageOfAll = database.prepare(pageSql(''));
  const pageByExternalIds = database.prepare(pageSql(byExternalIds));
  const pageBySources = database.prepare(pageSql(bySources));
  const pageByBoth = database.prepare(pageSql(`${byExternalIds} ${bySources}`));

  const pageRows = ({ externalIds, sources, ...place }: ContactQuery) => {
    const ids = JSON.stringify(externalIds);
    const labels = JSON.stringify(sources);
    if (externalIds !== null && sources !== null)
      return pageByBoth.all({ ...place, externalIds: ids, sources: labels });
    if (externalIds !== null) return pageByExternalIds.all({ ...place, externalIds: ids });
    if (sources !== null) return pageBySources.all({ ...place, sources: labels });
    return pageOfAll.all({ ...place });
  };
  return {
    insert: (contact) => {
      const createdMs = Date.parse(contact.createdAt);
      insert.run(contact.id, contact.externalId, contact.source, createdMs, JSON.stringify(contact));
    },
    replace: (contact) => {
      replace.run(contact.externalId, contact.source, JSON.stringify(contact), contact.id);
    },
    remove: (id) => remove.run(id).changes > 0,
    find: (id) => {
      const row = find.get(id);
      return row === undefined ? null : readDocument(row.document);
    },
    idOfExternalId: (externalId) => {
      const row = idOfExternalId.get(externalId);
      return row === undefined ? null : String(row.id);
    },
    page: (query) => pageRows(query).map((row) => ({ seq: Number(row.seq), contact: readDocument(row.document) })),
  };
}

/** The column holds what `insert` and `replace` wrote, and nothing else. */
function readDocument(document: unknown): StoredContact {
  return JSON.parse(String(document)) as StoredContact;
}
