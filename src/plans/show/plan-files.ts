/**
 * A plan as a file for a colleague: Markdown, or HTML. One file that needs no network, and in which nothing of the plan is markup. It
 * comes in pieces, as it is read.
 */
import type { PlanView, ViewChange, ViewContact, ViewGroup } from './plan-view.ts';

export async function* planMarkdown({
  title,
  facts,
  groups,
  rejected,
  notes,
  stop,
  summary,
}: PlanView): AsyncGenerator<string> {
  yield `# ${mark(title)}\n\n${facts.map(([name, value]) => `- ${name}: ${mark(value)}`).join('\n')}\n`;
  for (const group of groups) yield* markdownGroup(group);
  if (rejected.count > 0) {
    yield `\n## Rejected rows\n\n${markdownHead(rejected.head)}`;
    for await (const row of rejected.rows) yield markdownLine(row);
    yield moreText(rejected.moreCount);
  }
  if (notes.length > 0) yield `\n## Notes\n\n${notes.map((note) => `- ${mark(note)}\n`).join('')}`;
  if (stop !== null) yield `\n## The import would stop\n\n${[stop.message, ...stop.hints].map(mark).join('\n\n')}\n`;
  yield `\n## Summary\n\n${summary.map((line) => `- ${mark(line)}\n`).join('')}`;
}

async function* markdownGroup({ title, columns, contacts, moreCount }: ViewGroup): AsyncGenerator<string> {
  yield `\n## ${mark(title)}\n\n${markdownHead(['contact', 'field', ...columns])}`;
  for await (const contact of contacts) {
    for (const [index, { sign, field, before, after }] of changesOf(contact).entries())
      yield markdownLine([index === 0 ? contact.heading : '', `${sign} ${field}`, before ?? '–', after ?? '–']);
  }
  yield moreText(moreCount);
}

/** A contact that only gets its key. */
const nothingChanges: ViewChange = { sign: '~', field: 'externalId', before: null, after: null };

function changesOf({ changes }: ViewContact): readonly ViewChange[] {
  return changes.length === 0 ? [nothingChanges] : changes;
}

function markdownHead(names: readonly string[]): string {
  return `${markdownLine(names)}|${names.map(() => '---|').join('')}\n`;
}

function markdownLine(cells: readonly string[]): string {
  return `| ${cells.map(mark).join(' | ')} |\n`;
}

/** Text in which no character is markup, and no line ends. */
function mark(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]()<>#|~!&-]/g, (char) => `\\${char}`);
}

function moreText(count: number): string {
  return count === 0 ? '' : `\n… and ${count} more\n`;
}

/**
 * Contacts of each group, and rejected rows, that a browser still opens within seconds. What is cut says where all of it is
 * (`docs/plans.md`, "Plans").
 */
export const htmlListMax = 10_000;

export async function* planHtml({
  title,
  facts,
  groups,
  rejected,
  notes,
  stop,
  summary,
}: PlanView): AsyncGenerator<string> {
  const list = (items: readonly string[]) => `<ul>${items.map((item) => `<li>${text(item)}</li>`).join('')}</ul>`;
  yield htmlHead(title);
  yield `<dl>${facts.map(([name, value]) => `<dt>${text(name)}</dt><dd>${text(value)}</dd>`).join('')}</dl>\n`;
  if (stop !== null) {
    const reasons = [stop.message, ...stop.hints].map((one) => `<p>${text(one)}</p>`);
    yield `<section class="stop"><h2>The import would stop</h2>${reasons.join('')}</section>\n`;
  }
  for (const group of groups) yield* htmlGroup(group);
  if (rejected.count > 0) {
    yield `<section><h2>Rejected rows</h2>\n${tableHead(rejected.head)}<tbody>\n`;
    for await (const row of rejected.rows) yield `<tr>${row.map((one) => `<td>${text(one)}</td>`).join('')}</tr>\n`;
    yield `</tbody></table>${more(rejected.moreCount)}</section>\n`;
  }
  if (notes.length > 0) yield `<section><h2>Notes</h2>${list(notes)}</section>\n`;
  yield `<section><h2>Summary</h2>${list(summary)}</section>\n</main>\n</body>\n</html>\n`;
}

function htmlHead(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(title)}</title>
<style>${styles}</style>
</head>
<body>
<main>
<h1>${text(title)}</h1>
`;
}

async function* htmlGroup({ kind, title, columns, contacts, moreCount }: ViewGroup): AsyncGenerator<string> {
  yield `<section class="${kind}"><h2>${text(title)}</h2>\n${tableHead(['contact', 'field', ...columns])}`;
  for await (const contact of contacts) yield htmlContact(contact);
  yield `</table>${more(moreCount)}</section>\n`;
}

/** A body of the table for each contact, so that its rows stay together. */
function htmlContact(contact: ViewContact): string {
  const shown = changesOf(contact);
  const rows = shown.map(({ sign, field, before, after }, index) => {
    const of = index === 0 ? `<th scope="rowgroup" rowspan="${shown.length}">${text(contact.heading)}</th>` : '';
    return `<tr>${of}<td><b>${sign}</b> ${text(field)}</td><td>${cell(before)}</td><td>${cell(after)}</td></tr>`;
  });
  return `<tbody>${rows.join('')}</tbody>\n`;
}

function tableHead(names: readonly string[]): string {
  return `<table><thead><tr>${names.map((name) => `<th scope="col">${text(name)}</th>`).join('')}</tr></thead>\n`;
}

const cell = (value: string | null): string => (value === null ? '<i>none</i>' : text(value));
const more = (count: number): string =>
  count === 0
    ? ''
    : `<p>… and ${count} more: more than a browser opens. A plan that is written as .md or .json has all.</p>`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function text(value: string): string {
  return oneLine(value).replace(/[&<>"']/g, (char) => entities[char] ?? char);
}

/** Nothing of a value may steer the reader's program: no control characters, and none that turn the direction of text. */
function oneLine(value: string): string {
  return value.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

const styles = `
body{font:15px/1.45 system-ui,sans-serif;margin:0;color:#1b1f24;background:#fff}
main{max-width:70rem;margin:0 auto;padding:1.5rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin:1.6rem 0 .5rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{color:#57606a}dd{margin:0}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-top:1px solid #d0d7de;overflow-wrap:anywhere}
thead th{border-top:0;color:#57606a;font-weight:600}
tbody th{font-weight:600}i{color:#8c959f}
.create b{color:#1a7f37}.remove b{color:#cf222e}.held b,.drift b{color:#9a6700}
.stop{border-left:4px solid #cf222e;padding:.1rem 1rem;background:#fff5f5}
@media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}.stop{background:#2d1215}}
`;
