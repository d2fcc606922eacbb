/**
 * A session: a `sh` block of a paper whose commands begin with `$ `, each followed by what it prints.
 *
 * What differs from run to run is not compared: run and letter ids (but the same id stays the same everywhere), seconds,
 * how many reads were sent, versions, free space, the size of a backup, the instants of snapshots, since when a person is missing, ids of
 * contacts, what `forget` has counted. A line `…` stands for any lines.
 */

export interface Step {
  readonly command: string;
  readonly expected: readonly string[];
}

/** All steps of all sessions, in the order of the paper. */
export function stepsOf(markdown: string): readonly Step[] {
  const blocks = [...markdown.matchAll(/^```sh\n(\$ [\s\S]*?)^```$/gm)].map((match) => match[1] ?? '');
  return blocks.flatMap((block) => {
    const steps: { command: string; expected: string[] }[] = [];
    for (const line of block.trimEnd().split('\n')) {
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), expected: [] });
      else steps.at(-1)?.expected.push(line.trimEnd());
    }
    return steps;
  });
}

/** The paper with other outputs: `outputs` holds those of the steps that printed something else, by index. */
export function withOutputs(markdown: string, outputs: ReadonlyMap<number, readonly string[]>): string {
  let index = -1;
  return markdown.replace(/^```sh\n\$ [\s\S]*?^```$/gm, (block) => {
    const lines: string[] = ['```sh'];
    for (const { command, expected } of stepsOf(block)) {
      index += 1;
      lines.push(`$ ${command}`, ...(outputs.get(index) ?? expected));
    }
    return [...lines, '```'].join('\n');
  });
}

/**
 * Names for the ids of an output that does not fit, so that later commands find theirs: where both hold as many ids, each
 * stands for the one at its place. Returns the output with the paper's ids.
 */
export function asInPaper(expected: readonly string[], actual: readonly string[], names: Names): readonly string[] {
  const distinct = (lines: readonly string[]): string[] => [...new Set(lines.join('\n').match(ids) ?? [])];
  const [ofPaper, ofToday] = [distinct(expected), distinct(actual)];
  if (ofPaper.length === ofToday.length) {
    for (const [place, id] of ofPaper.entries()) {
      const today = ofToday[place];
      if (today !== undefined && !names.has(id)) names.set(id, today);
    }
  }
  const back = new Map([...names].map(([paper, today]) => [today, paper]));
  return actual.map((line) => line.replace(ids, (id) => back.get(id) ?? id));
}

/** An underscore may follow: file names begin with a run's id. */
const ids = /(?<![0-9A-Za-z])(?:\d{8}T\d{6}Z-[0-9a-f]{6}|d[0-9a-f]{12})(?![0-9A-Za-z])/g;
const idPattern = '(\\d{8}T\\d{6}Z-[0-9a-f]{6}|d[0-9a-f]{12})';
/** In a line that is already escaped for a pattern. */
const free: readonly (readonly [RegExp, string])[] = [
  [/\d+\\\.\d s, \d+ reads?/g, '\\d+\\.\\d s, \\d+ reads?'],
  [/v\d+\\\.\d+\\\.\d+/g, 'v\\d+\\.\\d+\\.\\d+'],
  [/\d{8}T\d{6}Z(?=\\\.json)/g, '\\d{8}T\\d{6}Z'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\dZ'],
  [/[\d,]+ MB free/g, '[\\d,]+ MB free'],
  [/since \d{4}-\d\d-\d\d(?=\\\))/g, 'since \\d{4}-\\d\\d-\\d\\d'],
  [/forgotten: \d+ rows of the ledger, \d+ files/g, 'forgotten: \\d+ rows of the ledger, \\d+ files'],
  [/\d+\\\.\d MB(?=: sound)/g, '\\d+\\.\\d MB'],
  [/(?<![0-9a-f])[0-9a-f]{24}(?![0-9a-f])/g, '[0-9a-f]{24}'],
];

/** Progress of a slow machine, and nothing else. */
const progressLine = /^.+: (?:\d+ of \d+ rows|[a-z]+, \d+ rows read)$/;

/** What a command printed, as a paper may hold it: paths shortened, spaces at the ends gone. */
export function tidyOutput(output: string, folder: string): readonly string[] {
  const lines = output
    .replaceAll(`${folder}/`, './')
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => !progressLine.test(line));
  while (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Ids of the paper and the ids of today that stand for them. */
export type Names = Map<string, string>;

/** The command with today's ids in place of the paper's. */
export function inToday(command: string, names: Names): string {
  return command.replace(ids, (id) => names.get(id) ?? id);
}

/** Whether the lines fit; ids met for the first time are entered into `names`. */
export function fits(expected: readonly string[], actual: readonly string[], names: Names): boolean {
  const [line, ...rest] = expected;
  if (line === undefined) return actual.length === 0;
  if (line === '…') return actual.some((_, skip) => fits(rest, actual.slice(skip), names)) || rest.length === 0;
  const [first, ...others] = actual;
  return first !== undefined && fitsLine(line, first, names) && fits(rest, others, names);
}

function fitsLine(expected: string, actual: string, names: Names): boolean {
  const found: string[] = [];
  let pattern = inToday(expected, names).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  for (const [from, to] of free) pattern = pattern.replace(from, () => to);
  const known = new Set(names.values());
  pattern = pattern.replace(ids, (id) => {
    if (known.has(id)) return id;
    found.push(id);
    return idPattern;
  });
  const match = new RegExp(`^${pattern}$`).exec(actual);
  if (match === null) return false;
  for (const [index, id] of found.entries()) {
    const today = match[index + 1] ?? '';
    if ((names.get(id) ?? today) !== today) return false;
    names.set(id, today);
  }
  return true;
}
