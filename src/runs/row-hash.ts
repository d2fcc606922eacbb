/** A row as it stands in the file, with the mapping's version: equal hashes need no second look. */
import { createHash } from 'node:crypto';
import type { Row } from '#src/sources/row.ts';

/** @returns a function from rows to 22 characters of base64url (132 bits). */
export function rowHasher(mappingVersion: string): (row: Row) => string {
  return (row) => {
    const content = row.kind === 'cells' ? [row.columns, row.cells] : row.object;
    return createHash('sha256')
      .update(mappingVersion)
      .update('\0')
      .update(JSON.stringify(content))
      .digest('base64url')
      .slice(0, 22);
  };
}
