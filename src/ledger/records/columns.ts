/** Values of columns as both databases return them: text, numbers, bytes, null. Flags are 0 or 1, documents JSON text. */

export type ResultRow = Readonly<Record<string, unknown>>;

/** A JSON column, or null. */
export function parseJson<Value>(text: unknown): Value | null {
  // What the ledger wrote itself is trusted.
  return typeof text === 'string' ? (JSON.parse(text) as Value) : null;
}

/** What is null stays null; anything else becomes JSON. */
export function jsonOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** 22 characters of base64url are 128 bits. */
export function hashBytes(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text, 'base64url');
}

export function hashText(bytes: unknown): string | null {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64url') : null;
}
