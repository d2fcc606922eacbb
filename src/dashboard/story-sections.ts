/** How a run came to be, what people did with it, and what it changed: the parts of its page that `runs show` has, too. */
import { html } from 'hono/html';
import type { ContactChange } from '#src/journal/changes.ts';
import { originOf } from '#src/ledger/runs.ts';
import type { RunStory } from '#src/operations/run-story.ts';
import { actWhat, approvedText, layoutWords, originWords, ownerWords } from '#src/operations/story-words.ts';
import { counted, type Frame, type Markup, moment, paste, valueCell } from './frame.ts';
import { runIdLink, withRunLinks } from './run-mentions.ts';

/** What is known of two facts in the list of the run's times and files. */
export function cameFacts(frame: Frame, { record }: RunStory): Markup {
  const { options } = record;
  const origin = originOf(record);
  const layout = layoutWords(record);
  const path = options.path === null ? '' : html` <code class="path">${options.path}</code>`;
  const undone = options.undoes === null ? '' : html`: run ${runIdLink(frame, options.undoes)}`;
  return html`${layout === null ? '' : html`<div><dt>Read by</dt><dd><bdi>${layout}</bdi></dd></div>`}
${origin === null ? '' : html`<div class="broad"><dt>Came by</dt><dd>${originWords[origin]}${path}${undone}</dd></div>`}`;
}

/** What people did with it, and why. Nothing where that is nothing. */
export function actsSection(frame: Frame, { record, acts }: RunStory): Markup {
  const { approvals, options } = record;
  if (approvals.length + acts.length === 0 && options.acceptReason === null) return html``;
  return html`<section aria-labelledby="acts"><h2 id="acts">What people did</h2>
<ul>${options.acceptReason === null ? '' : html`<li>Reason given with the import: <bdi>${options.acceptReason}</bdi></li>`}
${acts.map(
  (act) =>
    html`<li>${moment(act.atMs)}: <strong><bdi>${act.who}</bdi></strong>${act.by === 'page' ? ' (page)' : ''} <bdi>${withRunLinks(frame, actWhat(act), record.id)}</bdi>${because(act.reason)}</li>`,
)}
${approvals.map(
  ({ atMs, reason, figures }) =>
    html`<li>${moment(atMs)}: approved ${figures.map(approvedText).join(', ')}${because(reason)}</li>`,
)}</ul>
</section>`;
}

function because(reason: string | null): Markup {
  return reason === null ? html`` : html`: <bdi>${reason}</bdi>`;
}

/** What it wrote, from what to what: the first ones. Nothing where it wrote nothing. @param changes the first ones that are known. */
export function changesSection(frame: Frame, story: RunStory, changes: readonly ContactChange[]): Markup {
  const { summary, changesKnown, changesFile } = story;
  const { created, updated, run } = summary;
  if (created + updated === 0 && changes.length === 0) return html``;
  const done = html`${counted(created, 'contact', 'contacts')} created, ${updated} changed`;
  const file =
    changesFile === null
      ? ''
      : html`<p class="dim">All changes as a table: <code class="path">${changesFile}</code></p>`;
  const more = created + updated - new Set(changes.map(({ key }) => key)).size;
  const rest =
    more > 0
      ? html`<p class="dim">And ${counted(more, 'more', 'more')}: <code>${paste(frame, `patchbay runs show ${run} --full`)}</code></p>`
      : '';
  return html`<section aria-labelledby="changes"><h2 id="changes">What it changed</h2>
${changes.length === 0 ? html`<p class="dim">${done}; ${changesKnown === 'none' ? 'the journal has no write of this run' : 'from what to what is no longer kept'}.</p>` : changesTable(changes)}
${changes.length === 0 ? '' : rest}
${file}
</section>`;
}

function changesTable(changes: readonly ContactChange[]): Markup {
  return html`<table class="stacking">
<thead><tr><th scope="col">Key</th><th scope="col">What</th><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>
${changes.map(changeLines)}
</tbody>
</table>`;
}

const kindWords: Readonly<Record<ContactChange['kind'], string>> = {
  create: 'created',
  patch: 'changed',
  link: 'linked to this key',
  delete: 'deleted',
  adopt: 'another owner',
};

function changeLines({ key, kind, changes }: ContactChange): readonly Markup[] {
  const line = (field: Markup | string, before: Markup | string, after: Markup | string): Markup =>
    html`<tr><th scope="row"><bdi>${key}</bdi></th>
<td data-label="What">${kindWords[kind]}</td>
<td data-label="Field">${field}</td>
<td data-label="Before">${before}</td>
<td data-label="After">${after}</td></tr>
`;
  if (changes.length === 0) return [line('–', '–', '–')];
  return changes.map(({ field, from, to, why }) => {
    const after = why === 'adopted' || why === 'givenBack' ? ownerWords[why] : valueCell(to);
    return line(html`<bdi>${field}</bdi>`, valueCell(from), after);
  });
}
