/**
 * Which content types a download may have. An error page or a login page comes with 200 often enough: its type is what
 * tells it from an export. Pure.
 */

/** The ending of our names that goes with the type; empty where the type says nothing of the format. */
export type TypeEnding = '.csv' | '.tsv' | '.json' | '.ndjson' | '';

const endings: ReadonlyMap<string, TypeEnding> = new Map([
  ...['text/csv', 'application/csv', 'text/x-csv', 'application/x-csv', 'text/comma-separated-values'].map(csv),
  // What servers that know Excel send for CSV. A workbook is found out by its first bytes.
  csv('application/vnd.ms-excel'),
  ['text/tab-separated-values', '.tsv'],
  ['application/json', '.json'],
  ['text/json', '.json'],
  ...['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/x-jsonlines'].map(ndjson),
  ...['text/plain', 'application/octet-stream', 'binary/octet-stream', 'application/x-download'].map(unsaid),
  ...['application/force-download', 'application/gzip', 'application/x-gzip'].map(unsaid),
]);

function csv(type: string): readonly [string, TypeEnding] {
  return [type, '.csv'];
}

function ndjson(type: string): readonly [string, TypeEnding] {
  return [type, '.ndjson'];
}

function unsaid(type: string): readonly [string, TypeEnding] {
  return [type, ''];
}

/** Null where it is no type of an export. Without the header nothing is said of the format. */
export function endingOfType(header: string | null): TypeEnding | null {
  const type = typeName(header);
  return type === '' ? '' : (endings.get(type) ?? null);
}

/** The type alone, as it may stand in a message: what is not formed as one is not repeated. */
export function typeName(header: string | null): string {
  const [type = ''] = (header ?? '').split(';');
  const name = type.trim().toLowerCase();
  return name === '' || /^[a-z\d][a-z\d.+-]{0,63}\/[a-z\d][a-z\d.+-]{0,63}$/.test(name)
    ? name
    : 'something of no known type';
}
