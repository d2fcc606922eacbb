/** The contacts of a workspace as rows. Works inside or outside a transaction; commits are the caller's. */
import type { DatabaseSync } from 'node:sqlite';
import type { StoredContact } from '../contacts/stored-contact.ts';
import type { ContactDocuments } from './contact-document.ts';
import { type ContactPage, createContactPages } from './contact-pages.ts';
import { prepareRowArrays } from './row-arrays.ts';

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
    page,
    each: function* () {
      const rows = database.prepare('SELECT document FROM contacts ORDER BY seq').iterate();
      for (const { document } of rows) yield documents.read(String(document));
    },
  };
}
