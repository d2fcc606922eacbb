/** Instants, durations and counts as people read them. */
import { html } from 'hono/html';
import { isoInstant } from '#src/clock.ts';
import type { Markup } from './markup.ts';

const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const grouped = new Intl.NumberFormat('en-US');

/** An instant in the process's time zone, with its exact form for machines; a dash where there is none. */
export function moment(ms: number | null): Markup {
  if (ms === null) return html`–`;
  const exact = isoInstant(ms);
  return html`<time datetime="${exact}" title="${exact}">${local.format(ms)}</time>`;
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function count(value: number): string {
  return grouped.format(value);
}

/** `1 row`, `2 rows`. */
export function counted(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
