/** The filters of a list as a form: what its address may ask for, without a script. */
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
