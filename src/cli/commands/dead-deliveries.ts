/**
 * Deliveries to the webhook that were given up, among the dead letters. Their ids begin with `n`, those of dead rows with
 * `d`. They hold ids, codes and counts, no values.
 */
import { isoInstant } from '#src/clock.ts';
import type { DeliveryLedger } from '#src/ledger/delivery-ledger.ts';
import type { DeliveryRecord } from '#src/ledger/delivery-record.ts';
import { type Output, printable } from '../output.ts';

const idMark = 'n';
const idsShownMax = 5;
/** No ledger keeps more of them. */
const deadMax = 50_000;

/** Which dead letters a person asks for, as far as it concerns deliveries. */
export interface DeadDeliveryChoice {
  readonly code?: string;
  readonly run?: string;
  readonly state: string;
  readonly limit: number;
}

/** A delivery belongs to no run, and has no state but open. Newest first. */
export async function deadDeliveries(
  ledger: DeliveryLedger,
  { code, run, state, limit }: DeadDeliveryChoice,
): Promise<readonly DeliveryRecord[]> {
  if (run !== undefined || (state !== 'open' && state !== 'all')) return [];
  if (code === undefined) return ledger.inState('dead', limit);
  const dead = await ledger.inState('dead', deadMax);
  return dead.filter((delivery) => delivery.code === code).slice(0, limit);
}

export function isDeliveryId(id: string): boolean {
  return id.startsWith(idMark);
}

/** Null where no dead delivery is known by that id. */
export async function findDeadDelivery(ledger: DeliveryLedger, id: string): Promise<DeliveryRecord | null> {
  const found = await ledger.get(id);
  return found?.state === 'dead' ? found : null;
}

/** In the shape of `dead ls --json`; what a delivery does not have is null. */
export function deliveryDocument(delivery: DeliveryRecord): Readonly<Record<string, string | number | null>> {
  const { id, feed, code, message, attempts } = delivery;
  return {
    id,
    run: null,
    feed,
    file: null,
    line: null,
    key: null,
    class: code === 'webhookGone' ? 'refused' : 'exhausted',
    code,
    field: null,
    message,
    attempts,
    seen: 1,
    state: 'open',
    firstAt: isoInstant(delivery.atMs),
    lastAt: isoInstant(delivery.endedAtMs ?? delivery.atMs),
  };
}

/** One group, under those of the rows. */
export function printDeliveries(output: Output, dead: readonly DeliveryRecord[]): void {
  const [newest] = dead;
  if (newest === undefined) return;
  const what = dead.length === 1 ? '1 notice' : `${dead.length} notices`;
  output.line(`${output.style('bold', `${what} could not be delivered`)}: ${typesOf(dead)}`);
  output.line(`  last: ${printable(newest.message ?? '')}; try again with: patchbay dead retry ${newest.id}`);
  const rows = dead
    .slice(0, idsShownMax)
    .map((one) => [one.id, one.type, one.feed, isoInstant(one.atMs), one.code ?? '']);
  output.line(output.table(['id', 'notice', 'feed', 'of', 'code'], rows));
  if (dead.length > idsShownMax) output.line(`  … and ${dead.length - idsShownMax} more: patchbay dead ls --json`);
}

export function printDelivery(output: Output, delivery: DeliveryRecord): void {
  const { type, data } = delivery;
  const document = { ...deliveryDocument(delivery), type, data };
  if (output.json) {
    output.document(document);
    return;
  }
  for (const [name, value] of Object.entries(document)) {
    if (value !== null)
      output.line(`${name.padEnd(9)} ${printable(typeof value === 'object' ? JSON.stringify(value) : `${value}`)}`);
  }
}

/** Puts them back into the line, with all their tries. @returns those that were dead. */
export async function retryDeliveries(
  ledger: DeliveryLedger,
  dead: readonly DeliveryRecord[],
  output: Output,
  nowMs: number,
): Promise<number> {
  let count = 0;
  for (const delivery of dead) {
    if (!(await ledger.retry(delivery.id, nowMs))) continue;
    count += 1;
    if (output.json) output.document({ id: delivery.id, state: 'waiting', exitCode: 0 });
  }
  if (!output.json && count > 0) {
    const what = count === 1 ? '1 notice is' : `${count} notices are`;
    output.line(`${what} sent again by the running engine, or the next one`);
  }
  return count;
}

/** `2 × feed.bad, 1 × feed.recovered`. */
function typesOf(dead: readonly DeliveryRecord[]): string {
  const types = [...Map.groupBy(dead, ({ type }) => type)].map(([type, ofType]) => `${ofType.length} × ${type}`);
  return types.join(', ');
}
