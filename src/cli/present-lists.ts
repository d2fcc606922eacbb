/** Lists of a run for people: how many of each kind are printed, and what is said of the rest. */
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import { type Output, printable } from './output.ts';

/** How many of each kind are printed. */
export interface ShownMax {
  readonly problems: number;
  readonly held: number;
  readonly warnings: number;
  readonly matches: number;
  /** Said behind what was left out: where the rest is. */
  readonly rest: string;
}

/** How a run is shown. */
export interface Shown extends ShownMax {
  /** Whether the run may have had more outcomes than its report lists: the first `eventsPerRunMax` are kept. */
  readonly isCut: boolean;
}

/**
 * What is left of a list: how much, and where. Of the people whom a file lacks the report lists the first, also where it lists all else.
 * @param counts all; those that the report lists; those that are shown.
 */
export function moreText(
  { count, listed, shown }: { readonly count: number; readonly listed: number; readonly shown: number },
  { rest }: Shown,
): string | null {
  const [more, left] = [count - shown, listed - shown];
  if (more <= 0) return null;
  if (left >= more) return `${more} more${rest}`;
  return left > 0 && rest !== '' ? `${more} more, ${left} of them${rest}` : `${more} more`;
}

export function moreLine(margin: string, ...of: Parameters<typeof moreText>): readonly string[] {
  const text = moreText(...of);
  return text === null ? [] : [`${margin}… and ${text}`];
}

/** What to do about a problem or a warning, without the cells that it quotes where values are not shown. */
export function hintText({ values, paste }: Output, hint: string): string {
  return paste(printable(values ? hint : withoutQuotedCells(hint)));
}

export function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line.trimEnd()}`)
    .join('\n');
}
