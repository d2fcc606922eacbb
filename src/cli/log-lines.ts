/**
 * Log lines as they stand in the files: which of them somebody wants, and how a person reads one.
 */
import { type LogLevel, logLevels } from './log-levels.ts';
import { type Output, printable, type Style } from './output.ts';

export interface LogFilter {
  readonly run: string | null;
  readonly feed: string | null;
  /** This one and more important ones. */
  readonly level: LogLevel | null;
}

/** Every line of ours begins so; what else stands in a file was cut off by a crash. */
const beginning = /^\{"level":"([a-z]+)","time":"([^"]+)"/;

/** When a line was written, in ISO 8601; null for a torn one. */
export function timeOf(line: string): string | null {
  return beginning.exec(line)?.[2] ?? null;
}

/** Torn lines are wanted only where nothing is asked for. */
export function wantsLine({ run, feed, level }: LogFilter): (line: string) => boolean {
  if (run === null && feed === null && level === null) return () => true;
  const levels: ReadonlySet<string> = new Set(logLevels.slice(level === null ? 0 : logLevels.indexOf(level)));
  const texts = [run, feed].flatMap((one) => (one === null ? [] : [JSON.stringify(one)]));
  return (line) => {
    const found = beginning.exec(line)?.[1];
    if (found === undefined || !levels.has(found)) return false;
    // Most lines are none of it: that is seen before they are parsed.
    if (!texts.every((text) => line.includes(text))) return false;
    const fields = fieldsOf(line);
    return fields !== null && (run === null || fields.run === run) && (feed === null || fields.feed === feed);
  };
}

const styles: Readonly<Record<string, Style>> = {
  trace: 'gray',
  debug: 'gray',
  warn: 'yellow',
  error: 'red',
  fatal: ['bold', 'red'],
};

/** Time, level, run, feed, line and message, then what else it says. A torn line is shown as it is. */
export function prettyLine(line: string, output: Pick<Output, 'style'>): string {
  const fields = fieldsOf(line);
  if (fields === null) return printable(line);
  const { level, time, msg, run, feed, batch, line: row, ...rest } = fields;
  const word = String(level ?? '');
  const about = [
    ...(run === undefined ? [] : [String(run)]),
    ...(feed === undefined ? [] : [String(feed)]),
    ...(batch === undefined ? [] : [`batch ${batch}`]),
    ...(row === undefined ? [] : [`line ${row}`]),
  ].join(' ');
  const facts = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`);
  return [
    output.style('gray', localTime(String(time ?? ''))),
    output.style(styles[word] ?? 'green', word.toUpperCase().padEnd(5)),
    ...(about === '' ? [] : [output.style('cyan', printable(about))]),
    printable(String(msg ?? '')),
    ...(facts.length === 0 ? [] : [output.style('gray', printable(facts.join(' ')))]),
  ].join('  ');
}

function shown(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function localTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return text;
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : null;
  } catch {
    return null;
  }
}
