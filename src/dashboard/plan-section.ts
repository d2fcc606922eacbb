/** The plan that is kept of a stopped run, on its page: how much would be written, and its first contacts, before → after. */
import { html } from 'hono/html';
import type { PlannedContact } from '#src/contacts/planned.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import type { GroupKind } from '#src/plans/plan-totals.ts';
import { planView, type ViewContact, type ViewGroup } from '#src/plans/show/plan-view.ts';
import { counted, cut, type Frame, type Markup, moment, paste } from './frame.ts';

/** Of each group. They are looked for among the first ones of the plan: it may be long, and the page is made by the process that works. */
const contactsShownMax = 20;
const contactsReadMax = 500;

/** @param plan null where none is kept. @param planCommand makes one, or shows the whole of it. */
export async function planSection(frame: Frame, plan: MadePlan | null, runId: string): Promise<Markup> {
  const command = html`<code>${paste(frame, `patchbay plan --run ${runId}`)}</code>`;
  const intro = html`<p class="todo">To see what it would write: ${command}</p>`;
  if (plan === null) return intro;
  const first = await firstOf(plan.contacts, contactsReadMax);
  const view = planView({ ...plan, contacts: again(first) }, { limit: contactsShownMax, values: true });
  const groups: Markup[] = [];
  for (const group of view.groups) groups.push(await planGroup(plan, group));
  return html`${intro}
<section aria-labelledby="plan"><h2 id="plan">What it would write</h2>
<p class="dim">Plan <code>${plan.plan.id}</code>, made ${moment(plan.plan.createdAtMs)}: the newest that is kept.</p>
<ul>${view.summary.map((line) => html`<li>${line}</li>`)}</ul>
${groups}
</section>`;
}

async function planGroup(
  { groupCounts }: MadePlan,
  { kind, title, columns, contacts, moreCount }: ViewGroup,
): Promise<Markup> {
  const shown: ViewContact[] = [];
  for await (const contact of contacts) shown.push(contact);
  const count = kind === 'drift' ? shown.length + moreCount : groupCounts[kind satisfies GroupKind];
  const [before, after] = columns;
  const table = html`<table class="stacking">
<thead><tr><th scope="col">Contact</th><th scope="col">Field</th><th scope="col">${before}</th><th scope="col">${after}</th></tr></thead>
<tbody>
${shown.map(({ heading, changes }) =>
  changes.map(
    (change) => html`<tr><th scope="row"><bdi>${cut(heading)}</bdi></th>
<td data-label="Field"><bdi>${change.field}</bdi></td>
<td data-label="${before}"><bdi>${cut(change.before ?? '–')}</bdi></td>
<td data-label="${after}"><bdi>${cut(change.after ?? '–')}</bdi></td></tr>
`,
  ),
)}
</tbody>
</table>`;
  return html`<h3>${title}</h3>
${shown.length === 0 ? '' : table}
${count > shown.length ? html`<p class="dim">And ${counted(count - shown.length, 'more', 'more')}.</p>` : ''}`;
}

async function firstOf(contacts: AsyncIterable<PlannedContact>, max: number): Promise<readonly PlannedContact[]> {
  const first: PlannedContact[] = [];
  for await (const contact of contacts) {
    first.push(contact);
    if (first.length === max) break;
  }
  return first;
}

/** Each group reads them from the first one on. */
function again(contacts: readonly PlannedContact[]): AsyncIterable<PlannedContact> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* contacts;
    },
  };
}
