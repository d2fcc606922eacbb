/** The contacts of a workspace as rows. Works inside or outside a transaction; commits are the caller's. */
import type { DatabaseSync } from 'node:sqlite';
import type { StoredContact } from '../contacts/stored-contact.ts';
import type { ContactDocuments } from './contact-document.ts';

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
  /** The contact as a read shows it: JSON text. */
  readonly document: string;
}

export interface ContactTable {
  /** Answers the contact as a read shows it: JSON text. The externalId must be free: see `idOfExternalId`. */
  readonly insert: (contact: StoredContact) => string;
  readonly replace: (contact: StoredContact) => void;
  /** Answers whether there was one. */
  readonly remove: (id: string) => boolean;
  readonly find: (id: string) => StoredContact | null;
  /** The contact as a read shows it: JSON text. */
  readonly findDocument: (id: string) => string | null;
  readonly idOfExternalId: (externalId: string) => string | null;
  /** In order of creation. */
  readonly page: (query: ContactQuery) => readonly ContactRow[];
  /** All of them in order of creation, read as they are taken. */
  readonly each: () => Iterable<StoredContact>;
}

/**
 * One statement for each combination of filters. `INDEXED BY` fails rather than walk the table, whatever the planner
 * thinks of it. None sorts: for the one row of each externalId, sorting costs SQLite as much as finding them
 * (`test/service/store/query-plan.test.ts`).
 */
const place = 'seq > :afterSeq AND created_ms <= :createdMsMax';
const ofExternalIds = `
FROM contacts INDEXED BY contacts_by_external_id
WHERE external_id IN (SELECT value FROM json_each(:externalIds)) AND ${place}`;
const inOrder = 'ORDER BY seq LIMIT :limit';

export function createContactTable(database: DatabaseSync, documents: ContactDocuments): ContactTable {
  const insert = database.prepare(
    'INSERT INTO contacts (id, external_id, source, created_ms, document) VALUES (?, ?, ?, ?, ?)',
  );
  const replace = database.prepare('UPDATE contacts SET external_id = ?, source = ?, document = ? WHERE id = ?');
  const remove = database.prepare('DELETE FROM contacts WHERE id = ?');
  const find = database.prepare('SELECT document FROM contacts WHERE id = ?');
  const idOfExternalId = database.prepare('SELECT id FROM contacts WHERE external_id = ?');
  const pageOfAll = database.prepare(`SELECT seq, document FROM contacts WHERE ${place} ${inOrder}`);
  const pageByExternalIds = database.prepare(`SELECT seq, document ${ofExternalIds}`);
  const pageByBoth = database.prepare(`
    SELECT seq, document ${ofExternalIds} AND source IN (SELECT value FROM json_each(:sources))`);
  const placesOfSource = database.prepare(`
    SELECT seq FROM contacts INDEXED BY contacts_by_source WHERE source = :source AND ${place} ${inOrder}`);
  const atPlaces = database.prepare(
    'SELECT seq, document FROM contacts WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq',
  );

  /** The first rows of each source, merged: the index holds them in order only source by source. */
  const pageBySources = (
    sources: readonly string[],
    query: Pick<ContactQuery, 'afterSeq' | 'createdMsMax' | 'limit'>,
  ) => {
    const places = [...new Set(sources)]
      .flatMap((source) => placesOfSource.all({ ...query, source }).map(({ seq }) => Number(seq)))
      .sort((one, other) => one - other);
    return atPlaces.all(JSON.stringify(places.slice(0, query.limit)));
  };

  /** At most one row for each externalId. */
  const pageByIds = (
    externalIds: readonly string[],
    { sources, limit, ...place }: Omit<ContactQuery, 'externalIds'>,
  ) => {
    const given = { ...place, externalIds: JSON.stringify(externalIds) };
    const rows =
      sources === null ? pageByExternalIds.all(given) : pageByBoth.all({ ...given, sources: JSON.stringify(sources) });
    return rows.sort((one, other) => Number(one.seq) - Number(other.seq)).slice(0, limit);
  };

  const pageRows = ({ externalIds, ...query }: ContactQuery) => {
    if (externalIds !== null) return pageByIds(externalIds, query);
    const { sources, ...place } = query;
    return sources === null ? pageOfAll.all(place) : pageBySources(sources, place);
  };
  const findDocument = (id: string): string | null => {
    const row = find.get(id);
    return row === undefined ? null : String(row.document);
  };
  return {
    insert: (contact) => {
      const createdMs = Date.parse(contact.createdAt);
      const document = documents.write(contact);
      insert.run(contact.id, contact.externalId, contact.source, createdMs, document);
      return document;
    },
    replace: (contact) => {
      replace.run(contact.externalId, contact.source, documents.write(contact), contact.id);
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
    page: (query) => pageRows(query).map((row) => ({ seq: Number(row.seq), document: String(row.document) })),
    each: function* () {
      const rows = database.prepare('SELECT document FROM contacts ORDER BY seq').iterate();
      for (const { document } of rows) yield documents.read(String(document));
    },
  };
}
