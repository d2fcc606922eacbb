/** A second contact with a key that is taken: what the service refuses, and what an audit is there to find. */
import { DatabaseSync } from 'node:sqlite';

/**
 * Writes into the store of a service, which may be running. From then on its store no longer keeps externalIds unique.
 * @returns the ids of both, the older one first.
 */
export function addTwin(storeFile: string, externalId: string): readonly [string, string] {
  const database = new DatabaseSync(storeFile);
  try {
    database.exec(`DROP INDEX contacts_by_external_id;
      CREATE INDEX contacts_by_external_id ON contacts (external_id) WHERE external_id IS NOT NULL`);
    const found = database.prepare('SELECT id, document FROM contacts WHERE external_id = ?').get(externalId);
    if (found === undefined) throw new Error(`no contact has the key ${externalId}`);
    const id = String(found.id);
    const twinId = `${id.slice(0, -4)}${id.endsWith('0000') ? '1111' : '0000'}`;
    database
      .prepare(
        `INSERT INTO contacts (id, external_id, source, created_ms, document)
         SELECT ?1, external_id, source, created_ms + 5, json_set(document, '$.id', ?1) FROM contacts WHERE id = ?2`,
      )
      .run(twinId, id);
    return [id, twinId];
  } finally {
    database.close();
  }
}
