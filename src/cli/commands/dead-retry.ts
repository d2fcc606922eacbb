/**
 * `patchbay dead retry`: works until what it took is settled, unless detached. Deliveries to the webhook are put back into
 * the line; nobody waits for them.
 */
import { type RedriveChoice, redrive } from '#src/dead-letters/redrive.ts';
import { PatchbayError } from '#src/errors.ts';
import type { DeadLetterLedger } from '#src/ledger/dead-letter-ledger.ts';
import type { DeliveryLedger } from '#src/ledger/delivery-ledger.ts';
import { type DeliveryRecord, waitingMax } from '#src/ledger/delivery-record.ts';
import { finishOneShot } from '../finish-one-shot.ts';
import type { GlobalOptions } from '../global-options.ts';
import { patienceOf } from '../one-shot.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput } from '../output.ts';
import { deadDeliveries, findDeadDelivery, isDeliveryId, retryDeliveries } from './dead-deliveries.ts';

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
