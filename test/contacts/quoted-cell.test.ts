/** Hints hold no values of a file where none are to be printed. */
import { expect, it } from 'vitest';
import { quotedCell, withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import { shellWord } from '#src/shell-words.ts';

it.each(['plain', 'with space', "O'Brien's", "' --set x", 'a\\', "line\nbreak 'and' \\ more"])(
  'leaves out cells and values of commands: %j',
  (value) => {
    const hint = `It was ${quotedCell(value)}: patchbay dead edit d1 --set ${shellWord(`Name=${value}`)}, --set ${shellWord(value)} then.`;
    const [first, ...rest] = withoutQuotedCells(hint).split(' --set ');
    expect(first).toBe('It was “…”: patchbay dead edit d1');
    expect(rest.join(' | ')).toMatch(/^COLUMN=VALUE,? ?\| COLUMN=VALUE then\.$/);
  },
);
