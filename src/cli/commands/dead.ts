/** `patchbay dead ls|show`: rows that were given up, and deliveries to the webhook. */

import { finishOneShot, patienceOf } from '#src/cli/one-shot.ts';
import { type GlobalOptions, openCliHome } from '#src/cli/open-home.ts';
import { createOutput, type Output, printable } from '#src/cli/output.ts';
import { isoInstant } from '#src/clock.ts';
import {
  answerWithoutValues,
  type LetterDocument,
  letterDocument,
  letterWithoutValues,
} from '#src/dead-letters/letter-document.ts';
import { type RedriveChoice, redrive } from '#src/dead-letters/redrive.ts';
import { PatchbayError } from '#src/errors.ts';
import { type DeliveryLedger, type DeliveryRecord, waitingMax } from '#src/ledger/deliveries.ts';
import type { DeadLetter, DeadLetterLedger, DeadLetterState } from '#src/ledger/letters.ts';

interface ListOptions extends GlobalOptions {
  readonly code?: string;
  readonly run?: string;
  readonly state: DeadLetterState | 'all';
  readonly limit: number;
}

export async function listDead(options: ListOptions): Promise<number> {
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const letters = await home.ledger.deadLetters.list({
      ...(options.code === undefined ? {} : { code: options.code }),
      ...(options.run === undefined ? {} : { runId: options.run }),
      ...(options.state === 'all' ? {} : { states: options.state === 'open' ? ['open', 'redriven'] : [options.state] }),
      limit: options.limit,
    });
    const deliveries = await deadDeliveries(home.ledger.deliveries, options);
    if (output.json) {
      for (const letter of letters) output.document(shownDocument(output, letter));
      for (const delivery of deliveries) output.document(deliveryDocument(delivery));
    } else {
      if (letters.length > 0 || deliveries.length === 0) printGroups(output, letters);
      printDeliveries(output, deliveries);
    }
    return 0;
  } finally {
    await home.close();
  }
}

function shownDocument(output: Output, letter: DeadLetter): LetterDocument {
  return output.values ? letterDocument(letter) : letterWithoutValues(letter);
}

/** What is wrong, how often, one example, what to do: the reader mends one cause and not a thousand rows. */
function printGroups(output: Output, letters: readonly DeadLetter[]): void {
  if (letters.length === 0) {
    output.line('no dead letters');
    return;
  }
  const groups = [...Map.groupBy(letters, ({ code, field }) => `${code} ${field ?? ''}`).values()].sort(
    (a, b) => b.length - a.length,
  );
  for (const group of groups) {
    const [example] = group;
    if (example === undefined) continue;
    const field = example.field === null ? '' : ` in ${printable(example.field)}`;
    output.line(`${output.style('bold', `${group.length} × ${example.code}${field}`)} (${example.class})`);
    output.line(`  ${printable(example.hint)}`);
    const rows = group
      .slice(0, 5)
      .map((letter) => shownDocument(output, letter))
      .map((letter) => [letter.id, letter.key ?? '', `${letter.file}:${letter.line}`, letter.state, letter.message]);
    output.line(output.table(['id', 'key', 'where', 'state', 'what happened'], rows));
    if (group.length > 5)
      output.line(`  … and ${group.length - 5} more: patchbay dead ls --code ${example.code} --json`);
  }
  output.line('try again: patchbay dead retry --all');
}

export async function showDead(options: GlobalOptions, id: string): Promise<number> {
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const delivery = isDeliveryId(id) ? await findDeadDelivery(home.ledger.deliveries, id) : null;
    if (delivery !== null) {
      printDelivery(output, delivery);
      return 0;
    }
    const letter = await home.ledger.deadLetters.get(id);
    if (letter === null) {
      throw new PatchbayError('usage', 'noSuchDeadLetter', `there is no dead letter ${id}`, {
        hint: 'See them with: patchbay dead ls',
      });
    }
    const answer = output.values ? letter.answer : answerWithoutValues(letter);
    const document = { ...shownDocument(output, letter), hint: letter.hint, answer };
    const cells = output.values ? cellsOf(letter) : {};
    if (output.json) output.document({ ...document, cells, mapped: output.values ? letter.desired : null });
    else {
      for (const [name, value] of Object.entries(document)) {
        if (value !== null)
          output.line(`${name.padEnd(9)} ${printable(typeof value === 'object' ? JSON.stringify(value) : `${value}`)}`);
      }
      const rows = Object.entries(cells).map(([column, value]) => [column, value]);
      if (rows.length > 0) output.line(output.table(['column', 'cell'], rows));
    }
    return 0;
  } finally {
    await home.close();
  }
}

function cellsOf({ row }: DeadLetter): Record<string, string> {
  if (row === null) return {};
  const entries: [string, string][] =
    row.kind === 'cells'
      ? row.cells.map((cell, index) => [row.columns[index] ?? `cell ${index + 1}`, cell])
      : Object.entries(row.object).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]);
  return Object.fromEntries(entries);
}

/**
 * Deliveries to the webhook that were given up, among the dead letters. Their ids begin with `n`, those of dead rows with
 * `d`. They hold ids, codes and counts, no values.
 */
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

/**
 * `patchbay dead retry`: works until what it took is settled, unless detached. Deliveries to the webhook are put back into
 * the line; nobody waits for them.
 */
interface RetryOptions extends GlobalOptions {
  readonly code?: string;
  readonly run?: string;
  readonly all?: boolean;
  readonly remap?: boolean;
  readonly wait?: string;
  readonly detach?: boolean;
}

export async function retryDead(options: RetryOptions, ids: readonly string[]): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const chosen = ids.length > 0 || options.code !== undefined || options.run !== undefined;
  if (!chosen && options.all !== true) {
    throw new PatchbayError('usage', 'nothingChosen', 'say which dead letters to try again', {
      hint: 'Name their ids, or use --code CODE, --run RUN or --all.',
    });
  }
  const letterIds = ids.filter((id) => !isDeliveryId(id));
  const onlyDeliveries = ids.length > 0 && letterIds.length === 0;
  const choice: RedriveChoice = {
    ...(ids.length > 0 ? { ids: letterIds } : {}),
    ...(options.code === undefined ? {} : { code: options.code }),
    ...(options.run === undefined ? {} : { runId: options.run }),
    remap: options.remap === true,
  };
  const home = await openCliHome(options, onlyDeliveries ? 'look' : 'work');
  try {
    const output = createOutput(options);
    const dead = await chosenDeliveries(home.ledger.deliveries, options, ids);
    const sent = await retryDeliveries(home.ledger.deliveries, dead, output, home.clock.nowMs());
    if (onlyDeliveries && sent === 0) {
      throw new PatchbayError('usage', 'noDeadLetters', `there is no dead letter ${ids.join(', ')}`, {
        hint: 'See what is open with: patchbay dead ls',
      });
    }
    if (sent > 0 && (onlyDeliveries || !(await anyLetter(home.ledger.deadLetters, choice)))) return 0;
    const submit = async () => (await redrive(home.submit, choice)).map((run) => ({ run, isNew: true }));
    if (options.detach === true) {
      for (const { run } of await submit()) {
        if (output.json) output.document({ run: run.id, state: run.state, exitCode: 0 });
        else output.line(`${run.fileName}: run ${run.id} tries again with the running engine, or the next one`);
      }
      return 0;
    }
    return await finishOneShot(home, { output, patienceMs, sameWorkspace: false, refused: [] }, submit);
  } finally {
    await home.close();
  }
}

/** By their ids, or all that the options fit. */
async function chosenDeliveries(
  ledger: DeliveryLedger,
  options: RetryOptions,
  ids: readonly string[],
): Promise<readonly DeliveryRecord[]> {
  if (ids.length === 0) return deadDeliveries(ledger, { ...options, state: 'open', limit: waitingMax });
  if (options.run !== undefined) return [];
  const named = await Promise.all(ids.filter(isDeliveryId).map((id) => findDeadDelivery(ledger, id)));
  return named.filter((one) => one !== null).filter(({ code }) => options.code === undefined || code === options.code);
}

async function anyLetter(ledger: DeadLetterLedger, { remap: _, ...filter }: RedriveChoice): Promise<boolean> {
  return (await ledger.openByRun(filter)).length > 0;
}
