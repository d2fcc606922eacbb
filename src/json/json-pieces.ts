/** JSON of a document that may hold lists too long for memory: they are written as they are read. */

/**
 * The text of a document, in pieces. A member that can be read as an async list is an array, written item by item.
 * @param print writes everything else: a whole value. `between`: what stands between members, and between items of such a list; nothing,
 *   or a line break for people who look at the file.
 */
export async function* jsonPieces(
  document: object,
  print: (value: unknown) => string = printableJson,
  between: '' | '\n' = '',
): AsyncGenerator<string> {
  const end = `,${between}`;
  let before = '{';
  for (const [name, value] of Object.entries(document)) {
    if (value === undefined) continue;
    yield `${before}${print(name)}:`;
    before = end;
    if (isLongList(value)) yield* listPieces(value, print, end);
    else if (holdsLongList(value)) yield* jsonPieces(value, print, between);
    else yield print(value);
  }
  yield before === '{' ? '{}' : '}';
}

async function* listPieces(
  list: AsyncIterable<unknown>,
  print: (value: unknown) => string,
  end: string,
): AsyncGenerator<string> {
  let before = '';
  yield '[';
  for await (const item of list) {
    yield `${before}${print(item)}`;
    before = end;
  }
  yield ']';
}

function isLongList(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** As a member of it, or of one of its members; items of a list hold none. */
export function holdsLongList(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).some((member) => isLongList(member) || holdsLongList(member));
}

/**
 * JSON escapes the control characters below a space by itself. What else would steer a terminal is escaped here; the value stays.
 * @param replacer as for `JSON.stringify`.
 */
export function printableJson(
  value: unknown,
  replacer?: (this: unknown, name: string, member: unknown) => unknown,
): string {
  return JSON.stringify(value, replacer).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
