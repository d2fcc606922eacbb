/** The audits of a run on its page: whether each key that it touched has exactly one contact. */
import { html } from 'hono/html';
import type { RunStory } from '#src/operations/run-story.ts';
import { counted, type Frame, type Markup, moment, paste } from './frame.ts';
import { rowsShownMax } from './run-event-sections.ts';

type Audit = RunStory['audits'][number];
type Duplicate = Audit['duplicates'][number];

/** Nothing where none is entered, as of a run that has not ended. */
export function auditSection(frame: Frame, audits: readonly Audit[]): Markup {
  if (audits.length === 0) return html``;
  return html`<section aria-labelledby="audits"><h2 id="audits">Audits</h2>
${audits.map((audit) => auditPart(frame, audit))}
</section>`;
}

function auditPart(frame: Frame, audit: Audit): Markup {
  const { run, finishedAt, duplicates, duplicateCount } = audit;
  const at = finishedAt === null ? '' : html`${moment(Date.parse(finishedAt))}: `;
  const again = html`<code>${paste(frame, `patchbay audit ${run}`)}</code>`;
  if (duplicateCount === 0) return html`<p>${at}${verdict(audit, again)}${otherFindings(audit)}</p>`;
  const shown = duplicates.slice(0, rowsShownMax);
  return html`<div class="notice bad"><p>${at}${verdict(audit, again)}${otherFindings(audit)}</p>
<p>Merge or delete all but one of each in the workspace, then check again: ${again}</p></div>
<table class="stacking">
<thead><tr><th scope="col">Key</th><th scope="col">Contacts</th></tr></thead>
<tbody>
${shown.map(duplicateLine)}
</tbody>
</table>
${duplicateCount > shown.length ? html`<p class="dim">And ${counted(duplicateCount - shown.length, 'more', 'more')}: <code>${paste(frame, `patchbay audit ${run} --json`)}</code></p>` : ''}`;
}

function verdict({ state, scope, keys, checked, dueAt, duplicateCount, missing }: Audit, again: Markup): Markup {
  if (state === 'waiting')
    return html`${checked} of ${counted(keys, 'key', 'keys')} checked so far, due ${moment(Date.parse(dueAt))}; to check now: ${again}`;
  const looked = html`${counted(checked, 'key', 'keys')} checked`;
  if (duplicateCount > 0)
    return html`${looked}, <strong>${counted(duplicateCount, 'key has', 'keys have')} more than one contact</strong>`;
  if (keys === 0)
    return scope === 'touched'
      ? html`no key to check: the run sent nothing`
      : html`no key to check: those of this run are no longer kept, and newer runs have written all that it wrote`;
  return html`${looked}, ${missing === 0 ? 'exactly one contact each' : 'none has more than one contact'}`;
}

function otherFindings({ missing, missingKeys, unchecked, uncheckedKeys }: Audit): Markup {
  const named = (keys: readonly string[]): Markup =>
    html`${keys.slice(0, keysShownMax).map((key, index) => html`${index === 0 ? '' : ', '}<bdi>${key}</bdi>`)}`;
  return html`${missing === 0 ? '' : html`; ${counted(missing, 'key has', 'keys have')} no contact any more: ${named(missingKeys)}`}${
    unchecked === 0
      ? ''
      : html`; ${counted(unchecked, 'key', 'keys')} not checked, since the service gives no answer: ${named(uncheckedKeys)}`
  }`;
}

const keysShownMax = 10;

function duplicateLine({ key, contacts }: Duplicate): Markup {
  return html`<tr><th scope="row"><bdi>${key}</bdi></th>
<td data-label="Contacts"><span>${contacts.map(
    ({ id, createdAt, source, bound }) =>
      html`<code>${id}</code> <span class="dim">created ${createdAt ?? 'at an unknown time'}${source === null ? '' : html`, source <bdi>${source}</bdi>`}; ${bound === null ? 'the ledger does not know it' : 'bound to this key'}</span><br>`,
  )}</span></td></tr>
`;
}
