/**
 * A plan as a file for a colleague: Markdown, or HTML. One file that needs no network, and in which nothing of the plan is markup. Pure.
 */
import type { PlanView, ViewChange, ViewContact, ViewGroup } from './plan-view.ts';

export function planMarkdown({ title, facts, groups, rejected, notes, stop, summary }: PlanView): string {
  const blocks = [
    `# ${mark(title)}`,
    facts.map(([name, value]) => `- ${name}: ${mark(value)}`).join('\n'),
    ...groups.map(markdownGroup),
    ...(rejected.rows.length === 0
      ? []
      : [
          '## Rejected rows',
          `${markdownTable(rejectedHead(rejected.rows), rejected.rows)}${moreText(rejected.moreCount)}`,
        ]),
    ...(notes.length === 0 ? [] : ['## Notes', notes.map((note) => `- ${mark(note)}`).join('\n')]),
    ...(stop === null ? [] : ['## The import would stop', [stop.message, ...stop.hints].map(mark).join('\n\n')]),
    '## Summary',
    summary.map((line) => `- ${mark(line)}`).join('\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function markdownGroup({ title, columns, contacts, moreCount }: ViewGroup): string {
  const rows = contacts.flatMap(({ heading, changes }) =>
    (changes.length === 0 ? [nothingChanges] : changes).map((change, index) => [
      index === 0 ? heading : '',
      `${change.sign} ${change.field}`,
      change.before ?? '–',
      change.after ?? '–',
    ]),
  );
  return `## ${mark(title)}\n\n${markdownTable(['contact', 'field', ...columns], rows)}${moreText(moreCount)}`;
}

/** A contact that only gets its key. */
const nothingChanges: ViewChange = { sign: '~', field: 'externalId', before: null, after: null };

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(mark).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

/** Text in which no character is markup, and no line ends. */
function mark(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]()<>#|~!&-]/g, (char) => `\\${char}`);
}

function moreText(count: number): string {
  return count === 0 ? '' : `\n\n… and ${count} more`;
}

function rejectedHead(rows: readonly (readonly string[])[]): readonly string[] {
  return rows[0]?.length === 5
    ? ['line', 'column', 'value', 'code', 'what to do']
    : ['line', 'column', 'code', 'what to do'];
}

export function planHtml(view: PlanView): string {
  const { title, facts, groups, rejected, notes, stop, summary } = view;
  const list = (items: readonly string[]) => `<ul>${items.map((item) => `<li>${text(item)}</li>`).join('')}</ul>`;
  const sections = [
    `<dl>${facts.map(([name, value]) => `<dt>${text(name)}</dt><dd>${text(value)}</dd>`).join('')}</dl>`,
    ...(stop === null
      ? []
      : [
          `<section class="stop"><h2>The import would stop</h2>${[stop.message, ...stop.hints].map((one) => `<p>${text(one)}</p>`).join('')}</section>`,
        ]),
    ...groups.map(htmlGroup),
    ...(rejected.rows.length === 0
      ? []
      : [
          `<section><h2>Rejected rows</h2>${htmlTable(rejectedHead(rejected.rows), rejected.rows)}${more(rejected.moreCount)}</section>`,
        ]),
    ...(notes.length === 0 ? [] : [`<section><h2>Notes</h2>${list(notes)}</section>`]),
    `<section><h2>Summary</h2>${list(summary)}</section>`,
  ];
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
${sections.join('\n')}
</main>
</body>
</html>
`;
}

function htmlGroup({ kind, title, columns, contacts, moreCount }: ViewGroup): string {
  const rows = contacts.map((contact) => htmlContact(contact)).join('\n');
  const head = ['contact', 'field', ...columns].map((name) => `<th scope="col">${text(name)}</th>`).join('');
  return `<section class="${kind}"><h2>${text(title)}</h2>
<table><thead><tr>${head}</tr></thead>
${rows}
</table>${more(moreCount)}</section>`;
}

/** A body of the table for each contact, so that its rows stay together. */
function htmlContact({ heading, changes }: ViewContact): string {
  const shown = changes.length === 0 ? [nothingChanges] : changes;
  const rows = shown.map(({ sign, field, before, after }, index) => {
    const of = index === 0 ? `<th scope="rowgroup" rowspan="${shown.length}">${text(heading)}</th>` : '';
    return `<tr>${of}<td><b>${sign}</b> ${text(field)}</td><td>${cell(before)}</td><td>${cell(after)}</td></tr>`;
  });
  return `<tbody>${rows.join('')}</tbody>`;
}

function htmlTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((one) => `<${tag}>${text(one)}</${tag}>`).join('')}</tr>`;
  return `<table><thead>${line(head, 'th')}</thead><tbody>${rows.map((row) => line(row, 'td')).join('')}</tbody></table>`;
}

const cell = (value: string | null): string => (value === null ? '<i>none</i>' : text(value));
const more = (count: number): string => (count === 0 ? '' : `<p>… and ${count} more</p>`);

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
