/** Values of options, as they are read from the command line. Each throws commander's error, which names the option. */
import { InvalidArgumentError } from 'commander';

/** From `30%` or `30` to 0.3. */
export function percent(text: string): number {
  const match = /^(\d{1,3}(?:\.\d+)?)%?$/.exec(text.trim());
  const value = Number(match?.[1]);
  if (match === null || value > 100) throw new InvalidArgumentError('Give a percentage from 0% to 100%.');
  return value / 100;
}

/** Gathers the values of an option that is given several times. */
export function append(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

const countMax = 10_000_000;

export function count(text: string): number {
  const value = numberOf(text);
  if (Number.isInteger(value) && value >= 0 && value <= countMax) return value;
  throw new InvalidArgumentError(`Give a whole number from 0 to ${countMax}.`);
}

/** An empty text is no number, though JavaScript takes it for 0. */
function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

export function portNumber(text: string): number {
  const value = numberOf(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('Give a port from 0 to 65535.');
  return value;
}

/** `17`, or `1, record 17` as messages name one of several records in a line. */
export function rowPlace(text: string): { readonly line: number; readonly record?: number } {
  const [, line, record] = /^([1-9]\d{0,9})(?:,? *record ([1-9]\d{0,9}))?$/.exec(text.trim()) ?? [];
  if (line === undefined)
    throw new InvalidArgumentError('Give the number of a line, from 1, such as 17 or "1, record 17".');
  return record === undefined ? { line: Number(line) } : { line: Number(line), record: Number(record) };
}

/** How many of a list are asked for: none is no list. */
export function countFromOne(text: string): number {
  const value = numberOf(text);
  if (Number.isInteger(value) && value >= 1 && value <= countMax) return value;
  throw new InvalidArgumentError(`Give a whole number from 1 to ${countMax}.`);
}

const rateMin = 0.1;

/** Requests per second. */
export function rate(text: string): number {
  const value = numberOf(text);
  if (!(value >= rateMin && value <= 1_000)) throw new InvalidArgumentError('Give a number from 0.1 to 1000.');
  return value;
}
