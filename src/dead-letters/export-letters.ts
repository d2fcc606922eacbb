/**
 * Dead letters as files that can be imported again: fix-files of letters from whichever runs. A fix-file is read by one mapping and
 * belongs to one feed, so the letters of each feed and mapping have a file of their own.
 */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeadLetter, DeadLetterFilter } from '#src/ledger/letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { FileShape } from '#src/ledger/runs.ts';
import { distinctNames, type FixRow, writeFixRows } from '#src/runs/fix-file.ts';
import { safeFileName } from '#src/sources/file-name.ts';

export interface ExportedFile {
  /** Absolute where the folder is. */
  readonly file: string;
  readonly feed: string;
  readonly letters: number;
}

type ExportLedger = Pick<Ledger, 'deadLetters' | 'runs'>;
type ExportFilter = Omit<DeadLetterFilter, 'after' | 'limit'>;

/** What the letters of one file have in common. */
interface Group {
  readonly name: string;
  readonly feed: string;
  readonly columns: Map<string, string>;
  anyObject: boolean;
  letters: number;
}

const lettersPerPage = 250;

/**
 * Writes a file for each feed and mapping; none where no letter fits. Letters that hold no row have nothing to be written.
 * @param prefix of the names of the files: a run's id, so that they are deleted when they are old.
 * @throws the system's errors.
 */
export async function exportLetters(
  ledger: ExportLedger,
  filter: ExportFilter,
  { folder, prefix }: { readonly folder: string; readonly prefix: string },
): Promise<readonly ExportedFile[]> {
  const groupOf = createGroups(ledger);
  const groups = new Map<string, Group>();
  for await (const letter of lettersOf(ledger, filter)) {
    const { name, feed } = await groupOf(letter);
    const group = groups.get(name) ?? { name, feed, columns: new Map(), anyObject: false, letters: 0 };
    groups.set(name, group);
    group.letters += 1;
    group.anyObject ||= letter.row?.kind === 'object';
    if (letter.row?.kind !== 'cells') continue;
    for (const [index, column] of distinctNames(letter.row.columns).entries())
      group.columns.set(column, letter.row.columns[index] ?? '');
  }
  const files: ExportedFile[] = [];
  for (const { name, feed, columns, anyObject, letters } of groups.values()) {
    const shape: FileShape = { format: anyObject ? 'ndjson' : 'csv', columns: [...columns.values()], delimiter: ',' };
    const file = join(folder, `${prefix}__${safeFileName(`${name}.${anyObject ? 'ndjson' : 'csv'}`)}`);
    await writeFixRows(file, shape, () => rowsOf(ledger, filter, groupOf, name));
    files.push({ file, feed, letters });
  }
  return files;
}

type GroupOf = (letter: DeadLetter) => Promise<Pick<Group, 'name' | 'feed'>>;

/** By feed, and by how the run read its file that met the letter last. */
function createGroups({ runs }: ExportLedger): GroupOf {
  const readings = new Map<string, readonly string[]>();
  return async ({ feed, runId }) => {
    let reading = readings.get(runId);
    if (reading === undefined) {
      const run = await runs.get(runId);
      // A fix-file is read with the options of the run that its first letter names.
      const { defaultCountry = null, onBlank = null } = run?.options ?? {};
      reading = [run?.mapping?.name, defaultCountry, onBlank].flatMap((part) => part ?? []);
      readings.set(runId, reading);
    }
    return { feed, name: ['dead-letters', feed, ...reading.filter((part) => part !== feed)].join('-') };
  };
}

async function* rowsOf(
  ledger: ExportLedger,
  filter: ExportFilter,
  groupOf: GroupOf,
  name: string,
): AsyncGenerator<FixRow> {
  for await (const letter of lettersOf(ledger, filter)) {
    if ((await groupOf(letter)).name !== name) continue;
    const { id, row, line, key, code, problems } = letter;
    yield { letterId: id, row, line, key, code, problems };
  }
}

/** Those that hold a row, newest first. */
async function* lettersOf({ deadLetters }: ExportLedger, filter: ExportFilter): AsyncGenerator<DeadLetter> {
  let after: DeadLetter | undefined;
  // Ends with the first short page: each goes on where the one before ended.
  for (;;) {
    const page = await deadLetters.list({
      ...filter,
      ...(after === undefined ? {} : { after }),
      limit: lettersPerPage,
    });
    yield* page.filter(({ row }) => row !== null);
    if (page.length < lettersPerPage) return;
    after = page.at(-1);
    await nextTurn();
  }
}
