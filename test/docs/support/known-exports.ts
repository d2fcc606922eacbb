/** The table of known exports in `docs/mapping.md`, made from the presets themselves. */
import { placeholdersOf } from '#src/mapping/column-pattern.ts';
import type { Mapping, Signature } from '#src/mapping/mapping-schema.ts';
import type { Value } from '#src/mapping/value-schema.ts';

const begin = '<!-- known exports: made by npm run docs -->';
const end = '<!-- /known exports -->';

/** The document with today's table. */
export function withKnownExports(document: string, presets: readonly Mapping[]): string {
  const [before, rest] = document.split(begin);
  const [, after] = (rest ?? '').split(end);
  if (before === undefined || after === undefined) throw new Error(`the document has no ${begin} … ${end}`);
  return `${before}${begin}\n${tableOf(presets)}\n${end}${after}`;
}

function tableOf(presets: readonly Mapping[]): string {
  const head = '| export | recognised by | key | what becomes of its columns |\n|---|---|---|---|';
  const rows = presets.toSorted((left, right) => titleOf(left).localeCompare(titleOf(right))).map(rowOf);
  return [head, ...rows].join('\n');
}

function titleOf({ title, name }: Mapping): string {
  return title ?? name;
}

function rowOf(preset: Mapping): string {
  const { name, recognise = [], keyPrefix = '' } = preset;
  const cells = [
    `${titleOf(preset)} ([\`${name}\`](../config/mappings/${name}.yaml))`,
    recognise.map(signatureWords).join('; or '),
    `\`${keyPrefix}\` and ${valueWords(preset.key)}`,
    columnsWords(preset),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function signatureWords({ headers, members, format, without, wrapper, cells = [], footer }: Signature): string {
  const names = headers ?? members ?? [];
  const like = cells.map(({ column, beginsWith, equals, lengths }) => {
    const facts = [
      ...(equals === undefined ? [] : [`is ${code(equals)}`]),
      ...(beginsWith === undefined ? [] : [`begins with ${code(beginsWith)}`]),
      ...(lengths === undefined ? [] : [`has ${lengths.join(' or ')} characters`]),
    ];
    return `where ${code(column)} ${facts.join(' and ')}`;
  });
  return [
    format === undefined ? names.map(code).join(' + ') : `the format ${code(format)}`,
    ...(wrapper === undefined ? [] : [`in ${code(wrapper)}`]),
    ...like,
    ...(footer === undefined ? [] : [`and a last line that begins with ${footer.map(code).join(' or ')}`]),
    ...(without === undefined ? [] : [`without ${without.map(code).join(' and ')}`]),
  ].join(' ');
}

const fieldWords = {
  firstName: 'first name',
  lastName: 'last name',
  company: 'company',
  role: 'role',
  sourceUrl: 'link',
  source: 'source',
} as const;

function columnsWords({ fields, emails, phones, skipRows = [], keepRows = [] }: Mapping): string {
  const named = (Object.keys(fieldWords) as (keyof typeof fieldWords)[]).flatMap((name) => {
    const field = fields[name];
    return field === undefined ? [] : [`${fieldWords[name]}: ${valueWords(field)}`];
  });
  const lists = [['e-mail', emails] as const, ['phone', phones] as const].flatMap(([word, entries]) =>
    entries.length === 0 ? [] : [`${word}: ${entries.map((entry) => itemWords(entry)).join(', ')}`],
  );
  const skipped = skipRows.length + keepRows.length > 0 ? ['rows that are no contacts are skipped'] : [];
  return [...named, ...lists, ...skipped].join('; ');
}

function itemWords(entry: Mapping['emails'][number]): string {
  const { label, column } = entry;
  if (typeof label !== 'string') return `${valueWords(entry)} (label: ${code(String(label.column))})`;
  const isInName = typeof column === 'string' && placeholdersOf(column).includes('label');
  return isInName ? valueWords(entry) : `${valueWords(entry)} (${label})`;
}

function valueWords(value: Value): string {
  if (typeof value !== 'object') return code(String(value));
  const { column, firstOf, join, template, constant, part, transform = [] } = value;
  const isFallback = part !== undefined && firstOf !== undefined;
  const from =
    column !== undefined
      ? code(String(column))
      : firstOf !== undefined
        ? firstOf
            .slice(isFallback ? -1 : 0)
            .map(valueWords)
            .join(', else ')
        : join !== undefined
          ? join.map(valueWords).join(' + ')
          : code(template ?? constant ?? '');
  const where = isFallback ? ' where both parts are blank' : '';
  if (transform.includes('givenNames')) return `given names of ${from}${where}`;
  return transform.includes('familyName') ? `family name of ${from}${where}` : from;
}

function code(text: string): string {
  return `\`${text}\``;
}
