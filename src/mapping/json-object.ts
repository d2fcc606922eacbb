/** JSON objects as data: own members only, so that `__proto__` and `toString` are names like any other. */
import type { JsonValue } from '#src/sources/row.ts';

export type JsonObject = { readonly [name: string]: JsonValue };

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member, or undefined where the object has none of its own. */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Names of members that nothing maps, in order of appearance: each once, and no more than a reader can use. */
export class UnmappedNames {
  readonly #names = new Set<string>();
  readonly #namesMax = 500;

  add(name: string): void {
    if (this.#names.size < this.#namesMax) this.#names.add(name);
  }

  list(): readonly string[] {
    return [...this.#names];
  }
}
