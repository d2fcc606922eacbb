/** The rows that the proof prints: one for each part, in markdown. */
export const tableHeader = [
  'part',
  'queue',
  'seed',
  'rows',
  'kills',
  'flushes',
  'restarts',
  'freezes',
  'requests',
  'duplicates',
  'lost rows',
  'seconds',
  'remarks',
] as const;

export type TableRow = Readonly<Record<(typeof tableHeader)[number], string | number>>;

export function headerLines(): string {
  return `| ${tableHeader.join(' | ')} |\n|${tableHeader.map(() => '---|').join('')}`;
}

/** Numbers of seeds are written as they are given back with `--seed`. */
export function rowLine(row: TableRow): string {
  const cells = tableHeader.map((name) => {
    const value = row[name];
    return typeof value === 'number' && name !== 'seed' ? value.toLocaleString('en') : `${value}`;
  });
  return `| ${cells.join(' | ')} |`;
}
