/** `patchbay contact KEY`: all that is known of one contact. */

import { presentExplained } from '#src/cli/present-map.ts';
import { isoInstant } from '#src/clock.ts';
import { openReadingSession } from '#src/engine/reading-session.ts';
import { PatchbayError } from '#src/errors.ts';
import {
  type ContactStory,
  contactDocument,
  type Decision,
  type FeedStory,
  findContactKey,
  type NamedValue,
  readContact,
} from '#src/operations/contact.ts';
import { feedsOfAllHosts } from '#src/operations/hosts.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { changeLines } from '../present-story.ts';
import { instantText, shorten, valueText } from '../present-values.ts';
import { tellReadingWaits } from '../reading-waits.ts';

interface ContactOptions extends GlobalOptions {
  readonly offline?: boolean;
}

/** How long another command that reads with the data folder is waited for. */
const patienceMs = 30_000;

export async function contact(options: ContactOptions, text: string): Promise<number> {
  const output = createOutput(options);
  if (!output.values) {
    throw new PatchbayError('usage', 'valuesNeeded', 'contact shows values, and --no-values leaves them out', {
      hint: 'Leave --no-values out.',
    });
  }
  // Where the service is asked, it must be named.
  const home = await openCliHome(options, options.offline === true ? 'show' : 'act');
  try {
    const waits = tellReadingWaits(home, output);
    waits.begin('contacts');
    const key = await findContactKey(home, text).finally(waits.end);
    const signal = new AbortController().signal;
    const session =
      options.offline === true ? null : await openReadingSession(home, { sameWorkspace: false, patienceMs, signal });
    try {
      const feeds = { ...home.feeds, exists: await feedsOfAllHosts(home) };
      const story = await readContact({ ...home, feeds }, key, session?.workspace ?? null);
      if (output.json) output.document(contactDocument(story));
      else output.line(presentContact(output, story));
    } finally {
      await session?.close();
    }
    return exitCodes.done;
  } finally {
    await home.close();
  }
}

const writesShown = 20;

function presentContact(output: Output, story: ContactStory): string {
  const { record, theirs, agreed, feeds, writes, history } = story;
  const lines = [headLine(output, story)];
  if (record.claim !== null || record.intentRun !== null)
    lines.push('  a write of it is in doubt: it is looked up before it is written again');
  lines.push('', output.style('bold', holdsText(theirs)), ...valueLines(theirs.values));
  if (agreed.length > 0) {
    lines.push('', output.style('bold', 'agreed between file and app'));
    for (const { feed, field, value } of agreed) {
      lines.push(
        `  ${printable(field)}: ${printable(valueText(value))}${feed === null ? '' : ` (feed ${printable(feed)} alone)`}`,
      );
    }
  }
  for (const feed of feeds) lines.push('', ...feedLines(output, feed));
  lines.push('', output.style('bold', `writes: ${writes.length === 0 ? 'none that are kept' : writes.length}`));
  for (const change of writes.slice(0, writesShown)) {
    lines.push(`  ${instantText(change.at)}  run ${change.run}`, ...changeLines(output, change, false));
  }
  if (writes.length > writesShown) lines.push(`  … and ${writes.length - writesShown} older ones: --json`);
  if (history.length > 0) {
    lines.push('', output.style('bold', 'writes in doubt, and what became of them'));
    for (const { atMs, runId, kind, detail } of history)
      lines.push(
        `  ${instantText(isoInstant(atMs))}  ${kind}${runId === null ? '' : `  run ${runId}`}${detail === null ? '' : `  ${printable(detail)}`}`,
      );
  }
  return lines.join('\n');
}

function headLine({ style }: Output, { record }: ContactStory): string {
  const { key, contactId, state, linkedTo } = record;
  const about = [
    contactId === null ? 'no contact that Patchbay knows' : `contact ${printable(contactId)}`,
    ...(linkedTo === null ? [] : ['linked: it was made by hand and got this key']),
    ...(state === 'conflict' ? ['two contacts have this key'] : []),
  ];
  return `${style('bold', printable(key))}: ${about.join(', ')}`;
}

const readWords: Readonly<Record<ContactStory['theirs']['read'], string>> = {
  fresh: 'the app holds (read now)',
  remembered: 'the app held, when it last answered',
  none: 'the app holds no such contact',
};

function holdsText({ read, isSeveral }: ContactStory['theirs']): string {
  if (!isSeveral) return readWords[read];
  return read === 'none'
    ? 'the app holds several contacts with this externalId'
    : 'the app holds (read now), beside another contact with this externalId';
}

function valueLines(values: readonly NamedValue[]): readonly string[] {
  return values.map(({ field, value }) => `  ${printable(field)}: ${printable(valueText(value))}`);
}

function feedLines(
  output: Output,
  { feed, row, said, decisions, makeAgain, held, letters }: FeedStory,
): readonly string[] {
  const lines = [output.style('bold', `feed ${printable(feed)}`)];
  if (row.kind === 'found')
    lines.push(
      `  its row in ${printable(row.file)} (run ${row.run}), ${presentExplained(output, row.explained).join('\n')}`,
    );
  else lines.push(`  ${rowWords(row)}`);
  if (said.length > 0)
    lines.push('  the file said, and that is settled:', ...valueLines(said).map((line) => `  ${line}`));
  if (decisions.length > 0) {
    lines.push('  if the row came again now:');
    lines.push(output.table(['', 'field', 'decision', 'why', 'file', 'app'], decisions.map(decisionRow)));
  }
  if (makeAgain !== null) lines.push(`  to make the contact again: ${makeAgain}`);
  for (const { field, sinceMs } of held)
    lines.push(`  held since ${instantText(isoInstant(sinceMs))}: ${printable(field)}`);
  for (const { id, code, message, state } of letters)
    lines.push(`  dead letter ${id} (${state}): ${code}: ${printable(message)}; patchbay dead show ${id}`);
  return lines.map((line) => output.paste(line));
}

function rowWords({ kind, file, run }: Exclude<FeedStory['row'], { kind: 'found' }>): string {
  if (file === null) return 'no file of this feed was accepted yet';
  const words =
    kind === 'gone'
      ? 'its cells are no longer kept (archives are deleted after data.keepFiles)'
      : 'it is not in the last file of the feed, so that its cells are not at hand';
  return `${words}: ${printable(file)}, run ${run}; below stands what the file said last`;
}

function decisionRow({ field, decision, why, file, app, labels }: Decision): readonly string[] {
  const cell = (value: CustomFieldValue, label: string | null | undefined): string =>
    shorten(labels === undefined ? valueText(value) : `${valueText(value)} (${label ?? 'no label'})`);
  return ['', field, decision, why, cell(file, labels?.file), cell(app, labels?.app)];
}
