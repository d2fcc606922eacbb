/** `patchbay forget KEY`. */

import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import { forgottenWord } from '#src/ledger/erased-rows.ts';
import { ledgerBytes } from '#src/ledger/place.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import {
  allowAgain,
  type ForgottenPerson,
  forgetPerson,
  isGone,
  knowPerson,
  type PersonKnown,
  requireForgotten,
  requireUnnamed,
} from '#src/operations/forget.ts';
import { type Acquaintance, acquaintanceOf, keyUnknown } from '#src/operations/forget-unknown.ts';
import type { WaitingFile } from '#src/runs/erase/waiting-files.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { askDecision, type Decision, type Terminal, terminalOf } from '../questions.ts';

interface ForgetOptions extends GlobalOptions {
  readonly reason?: string;
  /** Nothing is erased: later files may bring the key again. */
  readonly allow?: boolean;
}

/** On a terminal the person is asked first, unless `--yes` has answered. 3 where the search still finds something. */
export async function forget(options: ForgetOptions, key: string): Promise<number> {
  const terminal = terminalOf(options);
  const given = options.reason?.trim() || null;
  // Where it can be asked for, it is, behind the question: known before anything is read else.
  if (given === null && terminal === null) throw options.allow === true ? allowReasonMissing() : reasonMissing();
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const person = await knowPerson(home, key);
    if (options.allow === true) return await allow(home, output, person, { terminal, given });
    if (given !== null) requireUnnamed(person, given);
    const acquaintance = await acquaintanceOf(home, person);
    // Who has a terminal is asked; without one it would be done unseen.
    if (acquaintance.others.length > 0 && terminal === null && options.yes !== true)
      throw keyUnknown(person, acquaintance.others);
    const answer = await askForgetting(terminal, preview(person, acquaintance), given);
    if (!answer.isYes) {
      output.note('nothing was erased');
      return exitCodes.guard;
    }
    const reason = answer.why;
    if (reason === null) throw reasonMissing();
    const patience = patienceNote(await ledgerBytes(home.ledgerPlace));
    if (patience !== null) output.note(patience);
    const forgotten = await forgetPerson(home, person, reason);
    const exitCode = isGone(forgotten) ? exitCodes.done : exitCodes.dead;
    const { by: knownBy, others } = acquaintance;
    if (output.json) output.document({ ...forgotten, contact: person.contactId, knownBy, others, exitCode });
    else printForgotten(output, person, acquaintance, forgotten);
    return exitCode;
  } finally {
    await home.close();
  }
}

async function allow(
  home: Home,
  output: Output,
  person: PersonKnown,
  { terminal, given }: { readonly terminal: Terminal | null; readonly given: string | null },
): Promise<number> {
  const key = printable(person.key);
  await requireForgotten(home, person);
  const shown = `Rows with the key ${key} are read again from the next file that is taken. What was erased stays erased.`;
  const question = 'Let later files bring this person again?';
  const answer = await askDecision(terminal, { shown, question, whyQuestion, given: given ?? undefined });
  if (!answer.isYes) {
    output.note('nothing was changed');
    return exitCodes.guard;
  }
  if (answer.why === null) throw allowReasonMissing();
  await allowAgain(home, person, answer.why);
  if (output.json) output.document({ key: person.key, allowed: true, exitCode: exitCodes.done });
  else
    output.line(
      `allowed: rows with the key ${key} are read again from the next file that is taken; what was erased stays erased`,
    );
  return exitCodes.done;
}

const whyQuestion = 'Why? Without personal data; kept in the trail of acts:';

/** Exported for tests, which have no terminal. */
export function askForgetting(terminal: Terminal | null, shown: string, given: string | null): Promise<Decision> {
  return askDecision(terminal, { shown, question: 'Forget this person?', whyQuestion, given: given ?? undefined });
}

/** Of these bytes every row is looked at, and the file is written anew, within seconds. */
const ledgerBytesSoon = 100_000_000;

/** What the wait is for; null where it is short. Exported for tests, which have no such ledger. */
export function patienceNote(bytes: number): string | null {
  if (bytes < ledgerBytesSoon) return null;
  const size = `${Math.round(bytes / 1_000_000)} MB`;
  return `erasing: each row of the ledger (${size}) and each file is looked at, which may take minutes; if it is interrupted, the same command finishes it`;
}

function reasonMissing(): PatchbayError {
  return new PatchbayError('usage', 'reasonMissing', 'forgetting a person needs a reason; nothing was erased', {
    hint: 'Say why, without personal data: --reason "request of 2026-11-20". It is kept in the trail of acts.',
  });
}

function allowReasonMissing(): PatchbayError {
  return new PatchbayError(
    'usage',
    'reasonMissing',
    'letting files bring a person again needs a reason; nothing was changed',
    {
      hint: 'Say why, without personal data: --reason "customer again since 2026-11-20". It is kept in the trail of acts.',
    },
  );
}

function preview(person: PersonKnown, { by, others }: Acquaintance): string {
  const { key, feeds, contactId, isKnown } = person;
  if (by === 'nothing') {
    const meant = others.length === 0 ? '' : ` Known: ${others.map(printable).join(', ')}.`;
    return `Nothing was found that would be erased for the key ${printable(key)}.${meant}\nRows with exactly this key are skipped in later files, until patchbay forget KEY --allow.`;
  }
  const known = isKnown
    ? `The ledger knows ${printable(key)}${contactId === null ? '' : ` as contact ${printable(contactId)}`}${feeds.length === 0 ? '' : `, from ${feeds.map(printable).join(', ')}`}.`
    : `The ledger does not know ${printable(key)}${by === 'forgotten' ? ' any more' : ''}; files of runs may name it.`;
  return `${known}\nThis erases the person from ledger, journal, dead letters, reports, archives and fix-files. It cannot be undone. Later files with this key are skipped.`;
}

const scrubWords: Readonly<Record<ForgottenPerson['scrubbed'], string>> = {
  overwritten: 'the ledger file was written anew: deleted rows are no longer in its bytes',
  later:
    'another process uses the ledger: its log may hold deleted rows until that process ends; then run the same command again',
  database: 'the database may keep deleted rows in its files, logs and backups until it reuses or removes them',
};

/** Exported for tests. */
export function printForgotten(
  output: Output,
  { key, contactId }: PersonKnown,
  { by, others }: Acquaintance,
  forgotten: ForgottenPerson,
): void {
  const { rows, reasons, files, scrubbed, left, waiting, unsearched, searched, otherHosts } = forgotten;
  const found = rows + reasons + files.length + waiting.length + unsearched.length;
  if (by === 'nothing' && found === 0) {
    output.line(`nothing erased: nothing was found of the key ${printable(key)}`);
    output.line('  rows with exactly this key are skipped in later files, until patchbay forget KEY --allow');
    if (others.length > 0) output.line(`  known: ${others.map(printable).join(', ')}`);
    else output.line('  a key has the prefix of its mapping: patchbay contact EMAIL shows it');
  } else output.line(`forgotten: ${counted(rows, 'row')} of the ledger, ${counted(files.length, 'file')}`);
  for (const { path, removed } of files) {
    const what = removed === null ? 'deleted' : `without ${counted(removed, 'entry').replace(/entrys$/, 'entries')}`;
    output.line(`  ${printable(path)}: ${what}`);
  }
  if (reasons > 0)
    output.line(`  ${counted(reasons, 'reason')} of acts named the person: replaced by ${forgottenWord}`);
  output.line(`  ${scrubWords[scrubbed]}`);
  if (by === 'forgotten')
    output.line('  the ledger had forgotten addresses and numbers already: files were searched for the key alone');
  if (left.tables.length + left.files.length === 0) {
    const hasMore = waiting.length + unsearched.length > 0;
    if (searched === 0) output.line('  the key is short: rows were looked for by it, and no text was searched for');
    else
      output.line(
        `  searched ledger and data folder for ${counted(searched, 'text')} of the person: nothing found${hasMore ? ', except' : ''}`,
      );
  } else {
    for (const { table, rows: found } of left.tables)
      output.line(output.style('red', `  still in the ledger: ${counted(found, 'row')} of ${table}`));
    for (const path of left.files) output.line(output.style('red', `  still in ${printable(path)}`));
    output.line('  Another contact may have the same address or number. Delete backups and other files yourself.');
  }
  for (const file of waiting) for (const line of waitingLines(output, file)) output.line(line);
  for (const path of unsearched) {
    output.line(output.style('red', `  not searched: ${printable(path)} cannot be read`));
    output.line('    look whether it names the person, and delete it if it does');
  }
  for (const { name, host } of otherHosts) {
    output.line(output.style('red', `  not searched: the files of the host ${printable(name)}`));
    output.line(
      `    give the same command there; if the host is gone for good: ${output.paste(`patchbay hosts forget ${host}`)}`,
    );
  }
  if (contactId !== null)
    output.line(`  the contact ${printable(contactId)} stays in the workspace: delete it in the app`);
  output.line('  not searched: backups and copies elsewhere, and the system that the files come from');
}

function waitingLines(output: Output, { path, names }: WaitingFile): readonly string[] {
  const what = names === 'person' ? 'names the person' : 'may name the person, and could not be searched';
  return [
    output.style('red', `  not read yet: ${printable(path)} ${what}`),
    output.paste('    when it is read, their rows are skipped and not kept: patchbay start; or delete it'),
  ];
}
