/** `patchbay contact KEY`: all that is known of one contact. */

import { openReadingSession } from '#src/engine/reading-session.ts';
import { PatchbayError } from '#src/errors.ts';
import { contactDocument, findContactKey, readContact } from '#src/operations/contact.ts';
import { feedsOfAllHosts } from '#src/operations/hosts.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput } from '../output.ts';
import { presentContact } from '../present-contact.ts';

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
  const home = await openCliHome(options, options.offline === true ? 'look' : 'act');
  try {
    const key = await findContactKey(home, text);
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
