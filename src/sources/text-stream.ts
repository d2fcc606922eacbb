/**
 * Looking at the beginning of a text stream without losing it.
 */

export interface PeekedText {
  /** The beginning that was read. */
  readonly head: string;
  /** Whether `head` is the whole text. */
  readonly whole: boolean;
  /** All of the text, `head` first. May be taken once. */
  all(): AsyncGenerator<string>;
}

/** Reads until `isEnough` says so or the text ends. `isEnough` bounds the memory: it must agree after finitely many characters. */
export async function peekText(
  chunks: AsyncGenerator<string>,
  isEnough: (head: string) => boolean,
): Promise<PeekedText> {
  let head = '';
  let whole = false;
  while (!isEnough(head)) {
    const next = await chunks.next();
    if (next.done) {
      whole = true;
      break;
    }
    head += next.value;
  }
  return { head, whole, all: () => followOn(head, chunks) };
}

async function* followOn(head: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    if (head !== '') yield head;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
