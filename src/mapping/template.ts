/** Templates: a text with columns in braces, such as `{First Name} {Last Name}`. `{{` and `}}` are braces of the text. */
import { normaliseHeader, tidyHeader } from './header.ts';

/** A piece is a text as it stands, or a column. */
export type TemplatePiece = { readonly text: string } | { readonly column: string };

export type Template =
  | { readonly ok: true; readonly pieces: readonly TemplatePiece[]; readonly columns: readonly string[] }
  | { readonly ok: false; readonly message: string };

const columnsMax = 50;

/** Reads a template. A message says what is wrong with it. */
export function parseTemplate(text: string): Template {
  const pieces: TemplatePiece[] = [];
  const columns: string[] = [];
  let rest = text;
  // Each turn takes at least one character off the rest.
  while (rest !== '') {
    const plain = /^(?:[^{}]|\{\{|\}\})+/.exec(rest)?.[0];
    if (plain !== undefined) {
      pieces.push({ text: plain.replaceAll('{{', '{').replaceAll('}}', '}') });
      rest = rest.slice(plain.length);
      continue;
    }
    const braced = /^\{([^{}]*)\}/.exec(rest);
    const name = braced?.[1] ?? null;
    if (braced === null || name === null)
      return bad('a brace is not closed, or not opened; write {{ for a brace of the text');
    if (normaliseHeader(name) === '') return bad('between { and } the name of a column is needed');
    pieces.push({ column: tidyHeader(name) });
    columns.push(tidyHeader(name));
    rest = rest.slice(braced[0].length);
  }
  if (columns.length === 0)
    return bad('a template holds at least one column in braces, such as {Name}; without one, write constant');
  if (columns.length > columnsMax) return bad(`a template holds at most ${columnsMax} columns`);
  return { ok: true, pieces, columns };
}

function bad(message: string): Template {
  return { ok: false, message };
}
