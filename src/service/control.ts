/**
 * `POST /__control {"faults":[SPEC…]}`: other faults at run time (`contract.md`, "Service"). `GET` shows those in
 * force.
 *
 * It is open only where it was asked for, and needs no key. Its JSON content type is one that a foreign web page cannot
 * send without asking first.
 */
import { z } from 'zod';
import { PatchbayError } from '#src/errors.ts';
import type { FaultSet } from './faults/fault-set.ts';
import { parseFault } from './faults/parse-fault.ts';
import { errorReply, newTrace } from './http/error-reply.ts';
import { parseJson, readBodyBytes } from './http/read-body.ts';
import { badRequest, Refusal } from './http/refusal.ts';
import { sendReply } from './http/send-reply.ts';

const faultCountMax = 100;
const controlBody = z.object({ faults: z.array(z.string()).max(faultCountMax) });

export interface ControlParts {
  readonly faults: FaultSet;
  readonly bodyBytesMax: number;
}

/** Answers the faults in force, as they were written. */
export function showControl({ faults }: Pick<ControlParts, 'faults'>): Response {
  return sendReply({ status: 200, body: { faults: faults.specs().map((spec) => spec.text) } });
}

/** Answers the faults that are now in force. With one that cannot be read, those before stay in force. */
export async function answerControl(request: Request, { faults, bodyBytesMax }: ControlParts): Promise<Response> {
  try {
    const body = controlBody.safeParse(parseJson(await readBodyBytes(request, bodyBytesMax)));
    if (!body.success) {
      throw badRequest([{ path: 'faults', message: `must be at most ${faultCountMax} texts`, type: 'array' }]);
    }
    faults.replace(body.data.faults.map(parseFault));
    return showControl({ faults });
  } catch (error) {
    return sendReply(errorReply(refusalOf(error), '00', newTrace()));
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof PatchbayError && error.kind === 'usage') return new Refusal(400, error.message);
  throw error;
}
