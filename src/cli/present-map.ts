/** What `patchbay map` prints: how the columns of a file are read, the first contacts, one row cell by cell, fixtures that fail. */
import type { Problem } from '#src/contacts/outcome.ts';
import type {
  ContactView,
  CountedProblem,
  ExplainedRow,
  MapResult,
  Preview,
  ProposedColumn,
} from '#src/operations/map-file.ts';
import type { FixtureResult } from '#src/operations/test-mapping.ts';
import { type Output, printable } from './output.ts';

/** More columns are counted; `--json` has them all. */
const mappedShownMax = 100;
const leftOutShownMax = 30;
const exampleCharsMax = 32;

export function presentMap(output: Output, result: MapResult): readonly string[] {
  return [
    `${printable(result.file)}: ${describeFile(result)}`,
    `${layoutLine(result)}`,
    ...columnLines(output, result),
    ...(result.preview === null ? [] : previewLines(output, result.preview)),
    ...result.remarks.map((remark) => `note: ${printable(remark)}`),
    ...result.warnings.map(({ message }) => `note: ${printable(message)}`),
  ];
}

function describeFile({ rows, isPartial, columns, format, delimiter, encoding }: MapResult): string {
  const counted = `${isPartial ? 'more than ' : ''}${rows} ${rows === 1 ? 'row' : 'rows'}`;
  const names = `${columns.length} ${columns.length === 1 ? 'column' : 'columns'}`;
  const shown = delimiter === null ? '' : `, separated by ${delimiter === '\t' ? 'tabs' : delimiter}`;
  return `${counted}, ${names} (${format}, ${encoding}${shown})`;
}

function layoutLine({ layout }: MapResult): string {
  switch (layout.kind) {
    case 'preset':
      return `recognised as ${layout.title ?? layout.name} (preset ${layout.name})`;
    case 'named':
      return `read by mapping ${layout.name}${layout.title === null ? '' : ` (${layout.title})`}`;
    case 'generic':
      return 'generic layout: it can be imported as it is';
    case 'draft':
      return 'no known layout: this is a proposal';
    default:
      return 'nothing to map';
  }
}

function columnLines(output: Output, { columns, layout }: MapResult): readonly string[] {
  const mapped = columns.filter(({ target }) => target !== null);
  const left = columns.filter(({ target }) => target === null);
  const isDraft = layout.kind === 'draft';
  const head = isDraft ? ['column', 'example', 'becomes', 'sure', 'why'] : ['column', 'example', 'becomes'];
  const rowOf = (one: ProposedColumn): readonly string[] => [
    one.column,
    exampleOf(output, one),
    one.target ?? '',
    ...(isDraft ? [one.confidence ?? '', one.reason] : []),
  ];
  return [
    ...(mapped.length === 0 ? [] : ['', output.table(head, mapped.slice(0, mappedShownMax).map(rowOf))]),
    ...moreLine(mapped.length, mappedShownMax),
    ...(left.length === 0
      ? []
      : [
          '',
          output.table(
            ['left out', 'example', 'why'],
            left.slice(0, leftOutShownMax).map((one) => [one.column, exampleOf(output, one), one.reason]),
          ),
        ]),
    ...moreLine(left.length, leftOutShownMax),
    ...(columns.length === 0 ? [] : ['']),
  ];
}

function moreLine(count: number, shownMax: number): readonly string[] {
  return count > shownMax ? [`and ${count - shownMax} more (--json lists them all)`] : [];
}

function exampleOf({ values }: Output, { example }: ProposedColumn): string {
  if (example === null || !values) return '';
  const characters = [...example];
  return characters.length <= exampleCharsMax ? example : `${characters.slice(0, exampleCharsMax - 1).join('')}…`;
}

function previewLines(output: Output, { contacts, rows, rejected, problems, warnings }: Preview): readonly string[] {
  const first = output.values
    ? contacts.map(({ line, contact, problems: own }) =>
        contact === null
          ? `  line ${line}: rejected: ${own.map(({ field, message }) => printable(`${field ?? ''}: ${message}`)).join('; ')}`
          : `  line ${line}: ${contactLine(contact)}`,
      )
    : [];
  const counted = (list: readonly CountedProblem[], what: string): readonly string[] =>
    list.map(({ count, first: { line, field, message } }) =>
      printable(
        `  ${what} (${count} of ${rows}): ${field === null ? '' : `${field}: `}${message}; first at line ${line}`,
      ),
    );
  return [
    ...(first.length === 0 ? [] : ['the first contacts, as they would be:', ...first]),
    ...(rejected === 0
      ? [rows === 1 ? 'the row can be imported' : `of the first ${rows} rows, all can be imported`]
      : [`of the first ${rows} rows, ${rejected} would be rejected:`]),
    ...counted(problems, 'rejected'),
    ...counted(warnings, 'warning'),
  ];
}

/** `crm-17  Ada Lovelace, Engine AG, Programmer  ada@example.com (work)  +1415… (mobile)` */
export function contactLine(contact: ContactView): string {
  const {
    externalId,
    firstName,
    lastName,
    company,
    role,
    sourceUrl,
    emails = [],
    phones = [],
    customFields = {},
  } = contact;
  const name = [firstName, lastName].filter((part) => part != null).join(' ');
  const about = [name, company, role].filter((part) => part != null && part !== '').join(', ');
  const items = [...emails, ...phones].map(({ name: label, value }) => `${value} (${label})`);
  const custom = Object.entries(customFields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return [externalId, about, ...items, sourceUrl ?? '', ...custom]
    .filter((part) => part !== '')
    .map(printable)
    .join('  ');
}

export function presentExplained(output: Output, row: ExplainedRow): readonly string[] {
  const shown = (text: string | null): string => (text === null ? '' : output.values ? text : '…');
  const lines = row.entries.map(({ target, cells, steps, result, problems }) => [
    cells.map(({ column }) => column).join(', '),
    cells.map(({ raw }) => shown(raw)).join(', '),
    steps.map(({ step, result: after }) => `${step} → ${shown(after)}`).join('; '),
    target,
    problems.length > 0 ? problems.map(inWords).join('; ') : result === null ? 'nothing said' : shown(result),
  ]);
  return [
    `line ${row.line}`,
    ...(row.skipped === undefined ? [] : [`  ${printable(row.skipped)}`]),
    ...(lines.length === 0 ? [] : [output.table(['column', 'cell', 'steps', 'becomes', 'result'], lines)]),
    ...(row.unused.length === 0
      ? []
      : [
          '',
          output.table(
            ['left out', 'cell'],
            row.unused.map(({ column, raw }) => [column, shown(raw)]),
          ),
        ]),
    '',
    ...(row.contact === null ? [] : [`contact: ${output.values ? contactLine(row.contact) : row.contact.externalId}`]),
    ...row.problems.map((problem) => `rejected: ${inWords(problem)}`),
    ...row.warnings.map((warning) => `warning: ${inWords(warning)}`),
  ];
}

function inWords({ field, message, hint }: Problem): string {
  return printable(`${field === null ? '' : `${field}: `}${message}. ${hint}`);
}

export function presentFixtures(name: string, results: readonly FixtureResult[]): readonly string[] {
  if (results.length === 0) return [`${name}: no fixtures`];
  const failed = results.filter(({ ok }) => !ok);
  return [
    ...failed.flatMap(({ number, differences }) => [
      `${name}: fixture ${number} fails`,
      ...differences.flatMap(({ what, expected, found }) => [
        `  ${what}`,
        `  - expected: ${printable(expected)}`,
        `  + found:    ${printable(found)}`,
      ]),
    ]),
    `${name}: ${results.length - failed.length} of ${results.length} ${results.length === 1 ? 'fixture passes' : 'fixtures pass'}`,
  ];
}
