/** Invented people as a CSV export. */

/** The keys `p-001` to that of the last one. */
export function peopleKeys(count: number, prefix = 'p'): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index + 1).padStart(3, '0')}`);
}

export interface People {
  readonly prefix?: string;
  /** All of them have it: another one changes every row. */
  readonly company?: string;
  /** Lines put behind the others, as they are. */
  readonly more?: readonly string[];
}

export function peopleCsv(count: number, { prefix = 'p', company = 'Copperline', more = [] }: People = {}): string {
  const rows = peopleKeys(count, prefix).map(
    (key, index) => `${key},Given ${index + 1},${company},+141555501${String(index % 100).padStart(2, '0')}`,
  );
  return `${['externalId,firstName,company,phone mobile', ...rows, ...more].join('\n')}\n`;
}
