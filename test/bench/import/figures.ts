/** What a benchmark found: figures with their limits, and the table that shows them. Pure. */

export interface Limit {
  readonly is: 'least' | 'most';
  readonly value: number;
}

/** One figure of one checkout. `value` is what is judged: most often the ratio of measured and baseline. */
export interface Figure {
  readonly name: string;
  /** As people read it, with its unit; null where there is none. */
  readonly baseline: string | null;
  readonly measured: string;
  readonly value: number;
  /** Null for a figure that is told and not judged. */
  readonly limit: Limit | null;
}

/** Whether a figure keeps its limit. */
export function isKept({ value, limit }: Pick<Figure, 'value' | 'limit'>): boolean {
  if (limit === null) return true;
  return limit.is === 'least' ? value >= limit.value : value <= limit.value;
}

/** A Markdown table. @param others the same figures of another checkout, or null; those that it lacks are told as such. */
export function tableOf(figures: readonly Figure[], others: readonly Figure[] | null): string {
  const head = ['figure', 'baseline', 'measured', 'value', 'limit', ''];
  const rows = figures.map((figure) => {
    const limit =
      figure.limit === null ? '' : `${figure.limit.is === 'least' ? '≥' : '≤'} ${shown(figure.limit.value)}`;
    const verdict = figure.limit === null ? '' : isKept(figure) ? 'ok' : 'short';
    const cells = [figure.name, figure.baseline ?? '', figure.measured, shown(figure.value), limit, verdict];
    if (others === null) return cells;
    const other = others.find(({ name }) => name === figure.name);
    if (other === undefined) return [...cells, 'left out', '', ''];
    const quotient = figure.value === other.value ? 1 : figure.value / other.value;
    return [...cells, other.measured, shown(other.value), `×${shown(quotient)}`];
  });
  const lines = [others === null ? head : [...head, 'other, measured', 'other, value', 'quotient'], ...rows];
  const widths = (lines[0] ?? []).map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)));
  const text = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  return [text[0], `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...text.slice(1)].join('\n');
}

function shown(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return value < 10 ? value.toFixed(2) : value.toFixed(1);
}

/** Not a number where one of them is none. */
export function median(values: readonly number[]): number {
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function seconds(value: number): string {
  return `${value.toFixed(2)} s`;
}
