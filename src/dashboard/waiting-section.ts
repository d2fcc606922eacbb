/**
 * What waits for a person beside stopped runs and rejected rows, on the first page: held fields, notices that were given up, and who does
 * not accept any.
 */
import { html } from 'hono/html';
import type { Home } from '#src/app.ts';
import { readDeadNotices } from '#src/operations/dead-notices.ts';
import { type FailingAddressee, readFailingAddressees } from '#src/operations/failing-addressees.ts';
import {
  choiceOfListed,
  type HeldChoice,
  type HeldOfFile,
  type HeldPage,
  heldByFeed,
  heldTakeCommand,
  readHeldPage,
} from '#src/operations/held-fields.ts';
import { fileAndLine } from '#src/sources/row.ts';
import { count, counted, type Frame, type Markup, moment, paste, valueCell } from './frame.ts';
import { addressOf, runAddress } from './refresh.ts';

export interface Waiting {
  /** The first ones, by feed, key and field. */
  readonly held: HeldPage;
  /** What commands about the first one choose besides its key and field. */
  readonly firstChoice: Pick<HeldChoice, 'feed'>;
  /** Feeds without any are left out. By name. */
  readonly heldByFeed: readonly { readonly feed: string; readonly fields: number }[];
  /** Notices that their addressee did not take, and the codes of the newest of them. */
  readonly deadNotices: { readonly count: number; readonly codes: readonly string[] };
  /** Those to whom notices are still tried, in vain so far. */
  readonly failingAddressees: readonly FailingAddressee[];
}

const heldShownMax = 20;

export async function readWaiting(home: Pick<Home, 'ledger' | 'clock'>): Promise<Waiting> {
  const held = await readHeldPage(home, { limit: heldShownMax });
  const [first] = held.held;
  return {
    held,
    firstChoice: first === undefined ? {} : await choiceOfListed(home, first),
    heldByFeed: held.held.length === 0 ? [] : await heldByFeed(home),
    deadNotices: await readDeadNotices(home),
    failingAddressees: await readFailingAddressees(home),
  };
}

/** How many fields are held. */
export function heldCountOf({ held: { held, moreCount } }: Waiting): number {
  return held.length + moreCount;
}

/** Nothing where no field is held. */
export function heldFieldsSection(frame: Frame, waiting: Waiting): Markup {
  const { held, firstChoice, heldByFeed: byFeed } = waiting;
  const [first] = held.held;
  if (first === undefined) return html``;
  const feeds = byFeed.map(({ feed, fields }) => html` <bdi>${feed}</bdi> ${count(fields)}`);
  return html`<section aria-labelledby="held-fields"><h2 id="held-fields">Held fields: waiting for you</h2>
<p>${counted(heldCountOf(waiting), 'field', 'fields')} that file and app changed differently:${feeds}. The app's value is kept until you decide. Of the first one:</p>
<p class="todo">Write the file's value: <code>${paste(frame, heldTakeCommand('file', first, true, firstChoice))}</code></p>
<p class="todo">Keep the app's value: <code>${paste(frame, heldTakeCommand('app', first, true, firstChoice))}</code></p>
<table class="stacking">
<thead><tr><th scope="col">Feed</th><th scope="col">Key</th><th scope="col">Field</th><th scope="col">File</th>
<th scope="col">App</th><th scope="col">Since</th><th scope="col">From</th></tr></thead>
<tbody>
${held.held.map((field) => heldLine(frame, field))}
</tbody>
</table>
${held.moreCount === 0 ? '' : html`<p class="dim">And ${counted(held.moreCount, 'more', 'more')}: list all with <code>${paste(frame, 'patchbay held ls')}</code></p>`}
</section>`;
}

function heldLine(
  frame: Frame,
  { feed, key, field, ours, theirs, sinceMs, sourceFile, runId, line }: HeldOfFile,
): Markup {
  return html`<tr><th scope="row"><bdi>${feed}</bdi></th>
<td data-label="Key"><bdi>${key}</bdi></td>
<td data-label="Field"><bdi>${field}</bdi></td>
<td data-label="File">${valueCell(ours)}</td>
<td data-label="App">${valueCell(theirs)}</td>
<td data-label="Since">${moment(sinceMs)}</td>
<td data-label="From"><a href="${runAddress(frame, runId)}"><bdi>${fileAndLine(sourceFile ?? `run ${runId}`, { line })}</bdi></a></td></tr>
`;
}

/** Nothing where every notice was delivered, or was not tried yet. */
export function noticesSection(
  frame: Frame,
  { deadNotices, failingAddressees }: Pick<Waiting, 'deadNotices' | 'failingAddressees'>,
): Markup {
  if (deadNotices.count === 0 && failingAddressees.length === 0) return html``;
  return html`<section aria-labelledby="notices"><h2 id="notices">Notices</h2>
${failingAddressees.map((one) => failingNotice(frame, one))}
${deadNotices.count === 0 ? '' : deadNoticesLine(frame, deadNotices)}
</section>`;
}

function failingNotice(frame: Frame, { to, waiting, since, message, nextTry, retry }: FailingAddressee): Markup {
  const sinceWhen = since === null ? '' : html` since ${moment(Date.parse(since))}`;
  return html`<div class="notice attention" role="status">
<p><strong>${counted(waiting, 'notice', 'notices')} not accepted by ${to}</strong>${sinceWhen}: <bdi>${message ?? ''}</bdi>; next try ${moment(Date.parse(nextTry))}.</p>
<p class="todo">Try again now: <code>${paste(frame, `patchbay dead retry ${retry}`)}</code></p></div>`;
}

/** Where the list of dead letters has no room for them. */
export function deadNoticesSection(frame: Frame, { deadNotices }: Pick<Waiting, 'deadNotices'>): Markup {
  return noticesSection(frame, { deadNotices, failingAddressees: [] });
}

function deadNoticesLine(frame: Frame, { count, codes }: Waiting['deadNotices']): Markup {
  // By code: the list of all dead letters has every rejected row before them.
  const links = codes.map(
    (code) => html` <a href="${addressOf(frame, '/dead-letters', { code }, 'notices')}"><code>${code}</code></a>`,
  );
  return html`<p>${counted(count, 'notice', 'notices')} could not be delivered. See why, and send or drop them:${links}</p>`;
}
