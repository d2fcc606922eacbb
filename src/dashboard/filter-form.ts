/**
 * The filters of a list as a form: what its address may ask for, without a script.
 *
 * A page that loads again would empty the form under the hands of a person. So it has a link in place of the form, to the same list with the
 * form, which stays as it is; the list that the form asks for loads again.
 */
import { html } from 'hono/html';
import type { Frame, Markup } from './frame.ts';
import { addressOf, hiddenChoice } from './refresh.ts';

export interface Filter {
  /** Of the member of the address. */
  readonly name: string;
  readonly label: string;
  /** As the address has it; blank: not asked for. */
  readonly value: string;
  /** What can be chosen, the blank one for all first. Absent: any text. */
  readonly options?: readonly (readonly [value: string, label: string])[];
}

/** The member of the address of a list that stays as it is, for a person who fills in its form. */
const choosing = { filter: 'open' } as const;

/** Whether an address has it. */
export function isChoosing(query: Readonly<Record<string, string>>): boolean {
  return query.filter === choosing.filter;
}

/** What is chosen, and the way to the form. Parameters as of `filterForm`. */
export function filterLink(
  frame: Frame,
  path: string,
  filters: readonly Filter[],
  hidden: Readonly<Record<string, string>> = {},
): Markup {
  const chosen = filters.filter(({ value }) => value !== '');
  const members = Object.fromEntries(chosen.map(({ name, value }) => [name, value]));
  const words = chosen.map(({ label, value, options }) => {
    const [, shown = value] = options?.find(([one]) => one === value) ?? [];
    return html`${label}: <bdi>${shown}</bdi> · `;
  });
  const href = addressOf(frame, path, { ...members, ...hidden, ...choosing });
  return html`<p>${words}<a href="${href}">Filter this list</a>${chosen.length === 0 ? '' : html` <a href="${addressOf(frame, path)}">Show all</a>`}</p>`;
}

/** @param path of the list. @param hidden further members of the address that stay. */
export function filterForm(
  frame: Frame,
  path: string,
  filters: readonly Filter[],
  hidden: Readonly<Record<string, string>> = {},
): Markup {
  const stays = Object.entries({ ...hidden, ...hiddenChoice(frame) });
  const isAsked = filters.some(({ value }) => value !== '');
  return html`<form method="get" action="${path}" class="filters">
${stays.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${filters.map(
  ({ name, label, value, options }) =>
    html`<label>${label} ${options === undefined ? html`<input name="${name}" value="${value}" autocomplete="off">` : choice(name, value, options)}</label>
`,
)}<button type="submit">Show</button>${isAsked ? html` <a href="${addressOf(frame, path)}">Show all</a>` : ''}
</form>`;
}

function choice(name: string, value: string, options: NonNullable<Filter['options']>): Markup {
  const all = options.some(([one]) => one === value) ? options : [...options, [value, value] as const];
  return html`<select name="${name}">${all.map(([one, label]) =>
    one === value
      ? html`<option value="${one}" selected>${label}</option>`
      : html`<option value="${one}">${label}</option>`,
  )}</select>`;
}
