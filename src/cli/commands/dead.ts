/** `patchbay dead ls|show`: rows that were given up, and deliveries to the webhook. */

import {
  answerWithoutValues,
  type LetterDocument,
  letterDocument,
  letterWithoutValues,
} from '#src/dead-letters/letter-document.ts';
import { PatchbayError } from '#src/errors.ts';
import type { DeadLetter, DeadLetterState } from '#src/ledger/dead-letter.ts';
import type { GlobalOptions } from '../global-options.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import {
  deadDeliveries,
  deliveryDocument,
  findDeadDelivery,
  isDeliveryId,
  printDeliveries,
  printDelivery,
} from './dead-deliveries.ts';

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
