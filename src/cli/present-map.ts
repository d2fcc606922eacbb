/** What `patchbay map` prints: how the columns of a file are read, the first contacts, one row cell by cell, fixtures that fail. */
import { hintsOnce, type Problem } from '#src/contacts/outcome.ts';
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import type {
  ContactView,
  CountedProblem,
  ExplainedRow,
  FixtureResult,
  MapResult,
  Preview,
  ProposedColumn,
} from '#src/operations/map-file.ts';
import { placeText } from '#src/sources/row.ts';
import { type Output, printable } from './output.ts';
import { shorten } from './present-values.ts';

/** More columns are counted; `--json` has them all. */
const mappedShownMax = 100;
const leftOutShownMax = 30;
const exampleCharsMax = 32;

export function presentMap(output: Output, result: MapResult): readonly string[] {
  return [
    `${printable(result.file)}: ${describeFile(result)}`,
    ...(result.misfit === null ? [] : [`the mapping of the feed does not fit: ${printable(result.misfit)}`]),
    `${layoutLine(result)}`,
    ...columnLines(output, result),
    ...policyLine(result),
    ...(result.preview === null ? [] : previewLines(output, result.preview, result.stop !== null)),
    ...(result.stop === null ? [] : [printable(result.stop)]),
    ...result.remarks.map((remark) => `note: ${printable(remark)}`),
    ...warningNotes(output, result.warnings),
  ];
}

function warningNotes({ values, paste }: Output, warnings: readonly Problem[]): readonly string[] {
  const hints = hintsOnce(warnings);
  return warnings.flatMap((warning) => {
    const hint = hints.get(warning);
    const note = `note: ${printable(warning.message)}`;
    return hint === undefined ? [note] : [note, `  ${paste(printable(values ? hint : withoutQuotedCells(hint)))}`];
  });
}

function describeFile({ rows, isPartial, columns, format, delimiter, encoding }: MapResult): string {
  const counted = `${isPartial ? 'more than ' : ''}${rows} ${rows === 1 ? 'row' : 'rows'}`;
  const names = `${columns.length} ${columns.length === 1 ? 'column' : 'columns'}`;
  const shown = delimiter === null ? '' : `, separated by ${delimiter === '\t' ? 'tabs' : delimiter}`;
  return `${counted}, ${names} (${format}, ${encoding}${shown})`;
}

function layoutLine({ layout, preview, stop }: MapResult): string {
  switch (layout.kind) {
    case 'preset':
      return `recognised as ${layout.title ?? layout.name} (preset ${layout.name})`;
    case 'named':
      return `read by mapping ${layout.name}${layout.title === null ? '' : ` (${layout.title})`}`;
    case 'generic':
      return stop !== null || (preview !== null && preview.rows > 0 && preview.rejected === preview.rows)
        ? 'generic layout: it is read by the names of its columns'
        : 'generic layout: it can be imported as it is';
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

function policyLine({ policies }: MapResult): readonly string[] {
  const chosen = Object.entries(policies).map(([field, policy]) => `${printable(field)} ${policy}`);
  return chosen.length === 0 ? [] : [`policies: ${chosen.join(', ')}`];
}

function moreLine(count: number, shownMax: number): readonly string[] {
  return count > shownMax ? [`and ${count - shownMax} more (--json lists them all)`] : [];
}

function exampleOf({ values }: Output, { example }: ProposedColumn): string {
  if (example === null || !values) return '';
  const characters = [...example];
  return characters.length <= exampleCharsMax ? example : `${characters.slice(0, exampleCharsMax - 1).join('')}…`;
}

function previewLines(
  output: Output,
  { contacts, rows, rejected, problems, warnings }: Preview,
  isStopped: boolean,
): readonly string[] {
  const first = output.values
    ? contacts.map(({ contact, problems: own, ...place }) =>
        contact === null
          ? `  line ${placeText(place)}: rejected: ${own.map(({ field, message }) => printable(`${field === null ? '' : `${field}: `}${message}`)).join('; ')}`
          : `  line ${placeText(place)}: ${contactLine(contact)}`,
      )
    : [];
  const counted = (list: readonly CountedProblem[], what: string): readonly string[] =>
    list.map(({ count, first: { line, field, message }, record }) =>
      printable(
        `  ${what} (${count} of ${rows}): ${field === null ? '' : `${field}: `}${message}; first at line ${placeText(record === undefined ? { line } : { line, record })}`,
      ),
    );
  return [
    ...(first.length === 0 ? [] : ['the first contacts, as they would be:', ...first]),
    ...(rejected === 0 ? [goodLine(rows, isStopped)] : [badLine(rows, rejected)]),
    ...counted(problems, 'rejected'),
    ...counted(warnings, 'warning'),
  ];
}

function badLine(rows: number, rejected: number): string {
  return rows === 1 ? 'the row would be rejected:' : `of the first ${rows} rows, ${rejected} would be rejected:`;
}

function goodLine(rows: number, isStopped: boolean): string {
  if (isStopped) return rows === 1 ? 'the row is not rejected' : `of the first ${rows} rows, none would be rejected`;
  return rows === 1 ? 'the row can be imported' : `of the first ${rows} rows, all can be imported`;
}

/** `crm-17  Ada Lovelace, Engine AG, Programmer  ada@example.com (work)  +1415… (mobile)` */
function contactLine(contact: ContactView): string {
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

/** A cell, and what is made of it: longer ones would make all lines of the table as long. */
const explainedCharsMax = 120;
const contactCharsMax = 1_000;

export function presentExplained(output: Output, row: ExplainedRow): readonly string[] {
  const shown = (text: string | null): string =>
    text === null ? '' : output.values ? shorten(text, explainedCharsMax) : '…';
  const inWords = (problem: Problem): string => problemInWords(problem, output);
  const lines = row.entries.map(({ target, cells, steps, result, problems }) => [
    cells.map(({ column }) => column).join(', '),
    cells.map(({ raw }) => shown(raw)).join(', '),
    steps.map(({ step, result: after }) => `${step} → ${shown(after)}`).join('; '),
    target,
    problems.length > 0 ? problems.map(inWords).join('; ') : result === null ? 'nothing said' : shown(result),
  ]);
  return [
    `line ${placeText(row)}`,
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
    ...(row.skipped === undefined ? [] : [`left out, as in an import: ${printable(row.skipped)}`]),
    ...(row.contact === null
      ? []
      : [`contact: ${output.values ? shorten(contactLine(row.contact), contactCharsMax) : row.contact.externalId}`]),
    ...row.problems.map((problem) => `rejected: ${inWords(problem)}`),
    ...row.warnings.map((warning) => `warning: ${inWords(warning)}`),
  ];
}

function problemInWords({ field, message, hint }: Problem, { values }: Output): string {
  return printable(`${field === null ? '' : `${field}: `}${message}. ${values ? hint : withoutQuotedCells(hint)}`);
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
