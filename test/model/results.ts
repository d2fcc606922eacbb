/** The results of the proofs as text for the README. Pure. */

export interface ProofResult {
  readonly name: string;
  readonly exitCode: number;
  /** All it printed; the lines of its tables begin with `|`. */
  readonly output: string;
  readonly seconds: number;
}

/** The heads of tables that a proof prints rows of only. */
const heads: Readonly<Record<string, readonly string[]>> = {
  commands: ['kind', 'seed', 'stories', 'commands', 'files', 'rows', 'seconds'],
};

const markers = { start: '<!-- results -->', end: '<!-- /results -->' };

export function resultText(results: readonly ProofResult[], { seed, date }: { seed: number; date: string }): string {
  const minutes = Math.ceil(results.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const sections = results.map((result) => {
    const verdict = result.exitCode === 0 ? 'no violation' : `**violated** (exit ${result.exitCode})`;
    return `**${result.name}**: ${verdict}, ${result.seconds} s\n\n${tablesOf(result)}\n`;
  });
  return `${date}, seed ${seed}, ${minutes} minutes in all.\n\n${sections.join('\n')}`;
}

/** All tables that it printed, each with a head. */
function tablesOf({ name, output }: ProofResult): string {
  const tables: string[][] = [];
  let inTable = false;
  for (const line of output.split('\n')) {
    const isRow = line.startsWith('|');
    if (isRow && !inTable) tables.push([]);
    if (isRow) tables.at(-1)?.push(line);
    inTable = isRow;
  }
  return tables.map((lines) => withHead(lines, heads[name]).join('\n')).join('\n\n');
}

function withHead(lines: readonly string[], head: readonly string[] | undefined): readonly string[] {
  const isWhole = lines.some((line) => /^\|[-| :]+\|$/.test(line));
  if (isWhole || head === undefined) return lines;
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...lines];
}

/** The paper with these results in place of those that stood there. Throws where it has no place for them. */
export function withResults(paper: string, text: string): string {
  const start = paper.indexOf(markers.start);
  const end = paper.indexOf(markers.end);
  if (start < 0 || end < start) throw new Error(`the paper has no ${markers.start} and ${markers.end}`);
  return `${paper.slice(0, start + markers.start.length)}\n${text.trimEnd()}\n${paper.slice(end)}`;
}
