/**
 * A list of small numbers as text: `1-1000,1003,7-5` is 1 to 1000, then 1003, then 7, 6, 5.
 *
 * The numbers of a workspace keep their order for long, so a thousand of them are a few characters. Pure.
 */

export function writeRuns(keys: readonly number[]): string {
  const runs: string[] = [];
  // Ends: each turn takes one run of at least one key.
  for (let start = 0; start < keys.length; ) {
    const end = endOfRun(keys, start);
    runs.push(end === start ? `${keys[start]}` : `${keys[start]}-${keys[end]}`);
    start = end + 1;
  }
  return runs.join(',');
}

/** What `writeRuns` wrote. */
export function readRuns(text: string): number[] {
  if (text === '') return [];
  return text.split(',').flatMap((run) => {
    const [first = Number.NaN, last = first] = run.split('-').map(Number);
    const step = last < first ? -1 : 1;
    return Array.from({ length: Math.abs(last - first) + 1 }, (_, index) => first + step * index);
  });
}

/** The last place that goes on, by one up or by one down, from `start`. */
function endOfRun(keys: readonly number[], start: number): number {
  const step = (keys[start + 1] ?? Number.NaN) - (keys[start] ?? Number.NaN);
  if (Math.abs(step) !== 1) return start;
  let end = start + 1;
  while ((keys[end + 1] ?? Number.NaN) - (keys[end] ?? Number.NaN) === step) end += 1;
  return end;
}
