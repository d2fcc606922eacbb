/**
 * How often a page loads again, and the address that ends it.
 *
 * Pages have no scripts: one whose figures move loads again as a whole, which takes the keyboard's focus and the place in the page from
 * the person who reads it. With `refresh=off` in its address it stays as it is.
 */
import type { Pause } from '#src/ledger/port.ts';

/** How often a page is loaded again, until when, and why it would be. */
export interface Pace {
  readonly seconds: number;
  readonly when: string;
  readonly why: string;
}

const busyPace: Pace = { seconds: 3, when: 'while a run is in progress', why: 'A run is in progress' };
/** Little moves while work waits for the service or its key; but the pause ends by itself, and the page is to tell. */
const pausedPace: Pace = { seconds: 30, when: 'while work is paused', why: 'Work is paused' };

/** Null where nothing moves. @param pause that the page tells. */
export function paceOf(isBusy: boolean, pause: Pause | null): Pace | null {
  if (pause !== null) return pausedPace;
  return isBusy ? busyPace : null;
}

/** What the address of a page says of it. */
export interface Refresh {
  readonly isOff: boolean;
  /** The same page with the other choice: path and query. */
  readonly otherHref: string;
}

const name = 'refresh';
const off = 'off';

/** Pure. @param address of a page, whole; of one that no browser would send nothing is said. */
export function refreshOf(address: string): Refresh {
  if (!URL.canParse(address)) return { isOff: false, otherHref: '/' };
  const { pathname, searchParams } = new URL(address);
  const isOff = searchParams.get(name) === off;
  if (isOff) searchParams.delete(name);
  else searchParams.set(name, off);
  return { isOff, otherHref: searchParams.size === 0 ? pathname : `${pathname}?${searchParams}` };
}

/** What an address asks for. Absent members are left out. */
export type AddressQuery = Readonly<Record<string, string | undefined>>;

/** The address of another page, with the choice of this one. Pure. @param place the id of what it opens at. */
export function addressOf(
  { refresh: { isOff } }: { readonly refresh: Refresh },
  path: string,
  query: AddressQuery = {},
  place: string | null = null,
): string {
  const parameters = new URLSearchParams();
  for (const [member, value] of Object.entries(query)) if (value !== undefined) parameters.set(member, value);
  if (isOff) parameters.set(name, off);
  return `${path}${parameters.size === 0 ? '' : `?${parameters}`}${place === null ? '' : `#${place}`}`;
}

/** The same for a form: its hidden members. Pure. */
export function hiddenChoice({ refresh: { isOff } }: { readonly refresh: Refresh }): Readonly<Record<string, string>> {
  return isOff ? { [name]: off } : {};
}

/** The address of a run's page. Pure. */
export function runAddress(frame: { readonly refresh: Refresh }, runId: string): string {
  return addressOf(frame, `/runs/${encodeURIComponent(runId)}`);
}
