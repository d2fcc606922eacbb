/**
 * `POST /__control {"faults":[SPEC…]}`: other faults at run time (`docs/contract.md`, "Service"). `GET` shows those in
 * force.
 *
 * It is open only where it was asked for, and needs no key. Its JSON content type is one that a foreign web page cannot
 * send without asking first.
 */
import { z } from 'zod';
import { PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { parseJson } from '#src/service/http/read-body.ts';
import { replyOutsideOperations, sendReply } from '#src/service/http/replies.ts';
import { type BodySource, readBodyBytes } from '../http/read-body.ts';
import { badRequest, Refusal } from '../http/refusal.ts';
import { type FaultSet, parseFault } from './faults.ts';

const faultCountMax = 100;
const controlBody = z.object({ faults: z.array(z.string()).max(faultCountMax) });

export interface ControlParts {
  readonly faults: FaultSet;
  readonly bodyBytesMax: number;
  readonly log: Logger;
}

/** Answers the faults in force, as they were written. */
export function showControl({ faults }: Pick<ControlParts, 'faults'>): Response {
  return sendReply({ status: 200, body: { faults: faults.specs().map((spec) => spec.text) } });
}

/** Answers the faults that are now in force. With one that cannot be read, those before stay in force. */
export async function answerControl(
  source: BodySource,
  { faults, bodyBytesMax, log }: ControlParts,
): Promise<Response> {
  try {
    const body = controlBody.safeParse(parseJson(await readBodyBytes(source, bodyBytesMax)));
    if (!body.success) {
      throw badRequest([
        { path: 'faults', message: `must be a list of at most ${faultCountMax} texts`, type: 'array' },
      ]);
    }
    faults.replace(body.data.faults.map(parseFault));
    return showControl({ faults });
  } catch (error) {
    return sendReply(replyOutsideOperations(refusalOf(error), log));
  }
}

/** A fault that cannot be read is refused in its own words; anything else stays what it is. */
function refusalOf(error: unknown): unknown {
  return error instanceof PatchbayError && error.kind === 'usage' ? new Refusal(400, error.message) : error;
}
