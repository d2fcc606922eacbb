/**
 * The body of a reply whose JSON text is at hand already: the store keeps contacts as reads show them, so that a page
 * of fifty is put together without being parsed.
 */

export class ReadyBody {
  /** The text of a JSON object. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Null: an empty body. */
export type ReplyBody = Readonly<Record<string, unknown>> | ReadyBody | null;

/** The JSON text of a body; null for an empty one. */
export function textOfBody(body: ReplyBody): string | null {
  if (body === null) return null;
  return body instanceof ReadyBody ? body.text : JSON.stringify(body);
}

/** A body as an object, for those who look into it; null for an empty one. */
export function objectOfBody(body: ReplyBody): Readonly<Record<string, unknown>> | null {
  return body instanceof ReadyBody ? JSON.parse(body.text) : body;
}
