/** `patchbay hosts ls|forget`. */

import { counted } from '#src/ledger/rules/approval.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { forgetHost, type HostDocument, readHosts } from '#src/operations/hosts.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { instantText } from '../present-values.ts';

export async function listHosts(options: GlobalOptions): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    const hosts = await readHosts(home);
    if (output.json) for (const host of hosts) output.document(host);
    else if (hosts.length === 0) output.line('no hosts: the ledger belongs to this data folder alone');
    else for (const host of hosts) for (const line of hostLines(output, host)) output.line(line);
    return 0;
  } finally {
    await home.close();
  }
}

export async function forgetOneHost(options: GlobalOptions, named: string): Promise<number> {
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const forgotten = await forgetHost(home, named);
    if (output.json) output.document({ ...forgotten, exitCode: 0 });
    else
      output.line(`${printable(forgotten.name)}: forgotten; ${counted(forgotten.runs, 'run')} went over to this host`);
    return 0;
  } finally {
    await home.close();
  }
}

const waitingShownMax = 50;

/** The host, and what waits for it. */
export function hostLines(output: Output, host: HostDocument): readonly string[] {
  const { host: id, name, state, isThis, seenAt, waiting } = host;
  const isUp = state === 'leads' || state === 'works';
  const since = isUp ? '' : ` since ${instantText(seenAt)}`;
  // Files of its runs are shown by its id, as ID:PATH, and two hosts may have one name.
  const first = `${printable(name)}${isThis ? ' (this one)' : ''}  ${id}  ${state}${since}`;
  const files = waiting.slice(0, waitingShownMax).map(({ run, feed, file, isUnread }) => {
    const what = isUnread ? 'its file is there, unread' : 'its results are to be written there';
    return `  waits for it: ${run}  ${printable(feed === mainFeed ? file : `${feed}: ${file}`)}  ${what}`;
  });
  const advice = `  start it again; if it is gone for good: patchbay hosts forget ${id}`;
  const moreCount = waiting.length - files.length;
  const more = moreCount > 0 ? [`  … and ${moreCount} more: patchbay hosts ls --json`] : [];
  const lines = [first, ...files, ...more, ...(waiting.length === 0 ? [] : [advice])];
  return lines.map((line) => (waiting.length > 0 ? output.style('red', output.paste(line)) : output.paste(line)));
}
