/**
 * Writes workbooks in the ways that Excel, LibreOffice and Google Sheets do: with shared texts or texts in the cells, with styles,
 * with or without references on rows and cells.
 */
import { type ZipMember, zipFile } from './zip-file.ts';

/** A cell: a text, a number, a flag, or XML of one's own. */
export type CellValue =
  | string
  | number
  | boolean
  | null
  | { readonly number: number | string; readonly format: string | number }
  | { readonly date: string; readonly format?: string | number }
  | { readonly error: string }
  | { readonly formula: string; readonly value?: string | number }
  /** The inner XML of a shared text. */
  | { readonly runs: string }
  | { readonly xml: string };

export interface SheetPlan {
  readonly name: string;
  readonly rows: readonly (readonly CellValue[] | null)[];
  readonly state?: 'visible' | 'hidden' | 'veryHidden';
  readonly hiddenRows?: readonly number[];
  /** XML before the rows, such as `<cols>`. */
  readonly before?: string;
  /** XML behind the rows, such as `<mergeCells>`. */
  readonly after?: string;
}

export interface WorkbookPlan {
  readonly sheets: readonly SheetPlan[];
  /** `excel`: shared texts, references, a dimension. `calc`: texts in the cells. `bare`: no references at all. */
  readonly dialect?: 'excel' | 'calc' | 'bare';
  readonly date1904?: boolean;
  readonly members?: readonly ZipMember[];
}

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const firstOwnFormat = 164;

/** One sheet of rows, the first of them the header. */
export function workbookOf(rows: SheetPlan['rows'], plan: Partial<WorkbookPlan> & Partial<SheetPlan> = {}): Buffer {
  const { dialect, date1904, members, ...sheet } = plan;
  return writeWorkbook({
    sheets: [{ name: 'Contacts', ...sheet, rows }],
    ...(dialect === undefined ? {} : { dialect }),
    ...(date1904 === undefined ? {} : { date1904 }),
    ...(members === undefined ? {} : { members }),
  });
}

export function writeWorkbook(plan: WorkbookPlan): Buffer {
  return zipFile([...workbookMembers(plan), ...(plan.members ?? [])]);
}

/** The parts by themselves, so that a test can break one. */
export function workbookMembers(plan: WorkbookPlan): readonly ZipMember[] {
  const styles = createStyles();
  const texts = createTexts();
  const parts = plan.sheets.map((sheet, index) => ({
    name: `xl/worksheets/sheet${index + 1}.xml`,
    data: sheetXml(sheet, { dialect: plan.dialect ?? 'excel', styles, texts, date1904: plan.date1904 === true }),
  }));
  const relation = (id: number, type: string, target: string): string =>
    `<Relationship Id="rId${id}" Type="${office}/${type}" Target="${target}"/>`;
  const count = plan.sheets.length;
  const relations = [
    ...plan.sheets.map((_, index) => relation(index + 1, 'worksheet', `worksheets/sheet${index + 1}.xml`)),
    relation(count + 1, 'styles', 'styles.xml'),
    relation(count + 2, 'sharedStrings', '/xl/sharedStrings.xml'),
  ];
  const listed = plan.sheets.map(({ name, state = 'visible' }, index) => {
    const stateXml = state === 'visible' ? '' : ` state="${state}"`;
    return `<sheet name="${escaped(name)}" sheetId="${index + 1}"${stateXml} r:id="rId${index + 1}"/>`;
  });
  const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';
  return [
    { name: '[Content_Types].xml', data: `${xml}<Types/>` },
    {
      name: '_rels/.rels',
      data: `${xml}<Relationships xmlns="${packageRelations}">${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      data: `${xml}<workbook xmlns="${main}" xmlns:r="${office}"><workbookPr${plan.date1904 === true ? ' date1904="1"' : ''}/><sheets>${listed.join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data: `${xml}<Relationships xmlns="${packageRelations}">${relations.join('')}</Relationships>`,
    },
    ...parts,
    { name: 'xl/styles.xml', data: styles.xml() },
    ...(texts.isEmpty() ? [] : [{ name: 'xl/sharedStrings.xml', data: texts.xml() }]),
  ];
}

interface Writing {
  readonly dialect: NonNullable<WorkbookPlan['dialect']>;
  readonly styles: ReturnType<typeof createStyles>;
  readonly texts: ReturnType<typeof createTexts>;
  readonly date1904: boolean;
}

function sheetXml({ rows, hiddenRows = [], before = '', after = '' }: SheetPlan, writing: Writing): string {
  const lines = rows.flatMap((cells, index) => {
    if (cells === null) return [];
    const r = index + 1;
    const reference = writing.dialect === 'bare' ? '' : ` r="${r}"`;
    const hidden = hiddenRows.includes(r) ? ' hidden="1"' : '';
    return [
      `<row${reference}${hidden}>${cells.map((cell, column) => cellXml(cell, column, r, writing)).join('')}</row>`,
    ];
  });
  const dimension = writing.dialect === 'excel' ? `<dimension ref="A1:Z${rows.length}"/>` : '';
  return `${xml}<worksheet xmlns="${main}">${dimension}${before}<sheetData>${lines.join('')}</sheetData>${after}</worksheet>`;
}

function cellXml(cell: CellValue, column: number, row: number, writing: Writing): string {
  const reference = writing.dialect === 'bare' ? '' : ` r="${String.fromCharCode(65 + column)}${row}"`;
  const open = (attributes: string, inner: string): string => `<c${reference}${attributes}>${inner}</c>`;
  if (cell === null) return writing.dialect === 'bare' ? open('', '') : '';
  if (typeof cell === 'number') return open('', `<v>${cell}</v>`);
  if (typeof cell === 'boolean') return open(' t="b"', `<v>${cell ? 1 : 0}</v>`);
  if (typeof cell === 'string') {
    const inner = `<t xml:space="preserve">${escaped(cell)}</t>`;
    if (writing.dialect === 'excel') return open(' t="s"', `<v>${writing.texts.add(inner)}</v>`);
    return open(' t="inlineStr"', `<is>${inner}</is>`);
  }
  if ('xml' in cell) return cell.xml;
  if ('runs' in cell) return open(' t="s"', `<v>${writing.texts.add(cell.runs)}</v>`);
  if ('error' in cell) return open(' t="e"', `<v>${cell.error}</v>`);
  if ('number' in cell) return open(` s="${writing.styles.add(cell.format)}"`, `<v>${cell.number}</v>`);
  if ('date' in cell) {
    const style = writing.styles.add(cell.format ?? 14);
    return open(` s="${style}"`, `<v>${serialOf(cell.date, writing.date1904)}</v>`);
  }
  const value = cell.value === undefined ? '' : `<v>${escaped(String(cell.value))}</v>`;
  return open(typeof cell.value === 'string' ? ' t="str"' : '', `<f>${escaped(cell.formula)}</f>${value}`);
}

/** The number of a day, and its time as a fraction. */
function serialOf(date: string, date1904: boolean): number {
  const start = date1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  return (Date.parse(date.includes('T') ? `${date}Z` : date) - start) / 86_400_000;
}

function createStyles() {
  const own: string[] = [];
  const ids: number[] = [0];
  const idOf = (format: string | number): number => {
    if (typeof format === 'number') return format;
    if (!own.includes(format)) own.push(format);
    return firstOwnFormat + own.indexOf(format);
  };
  return {
    /** The index of the cell format with this number format. */
    add: (format: string | number): number => {
      const id = idOf(format);
      if (!ids.includes(id)) ids.push(id);
      return ids.indexOf(id);
    },
    xml: (): string => {
      const formats = own.map(
        (code, index) => `<numFmt numFmtId="${firstOwnFormat + index}" formatCode="${escaped(code)}"/>`,
      );
      const cells = ids.map((id) => `<xf numFmtId="${id}" fontId="0" applyNumberFormat="1"/>`);
      return `${xml}<styleSheet xmlns="${main}"><numFmts>${formats.join('')}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs>${cells.join('')}</cellXfs></styleSheet>`;
    },
  };
}

function createTexts() {
  const items: string[] = [];
  return {
    add: (inner: string): number => {
      const known = items.indexOf(inner);
      if (known >= 0) return known;
      items.push(inner);
      return items.length - 1;
    },
    isEmpty: () => items.length === 0,
    xml: (): string => `${xml}<sst xmlns="${main}">${items.map((inner) => `<si>${inner}</si>`).join('')}</sst>`,
  };
}

function escaped(text: string): string {
  return text
    .replace(/_x[0-9A-Fa-f]{4}_/g, '_x005F$&')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/"/g, '&quot;')
    .replace(/[\u0000-\u001f]/g, (char) => `_x${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`);
}
