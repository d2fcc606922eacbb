/**
 * The workspace service as a function from request to response, without a port.
 *
 * The table of operations is the interface: each path answers its operations, 405 for other methods, and everything
 * else is 404. The caller owns the store.
 */
import { Hono } from 'hono';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { type AnswerParts, answerOperation, type ServiceEnv } from './answer-operation.ts';
import { createBackground } from './background.ts';
import { contactOperations } from './contacts/contact-operations.ts';
import { defaultReservedSources } from './contacts/reserved-sources.ts';
import { answerControl } from './control.ts';
import { customFieldOperations } from './custom-fields/custom-field-operations.ts';
import { createFaultSet } from './faults/fault-set.ts';
import { createAuthentication } from './http/authentication.ts';
import { errorReply, newTrace } from './http/error-reply.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { Refusal } from './http/refusal.ts';
import { sendReply } from './http/send-reply.ts';
import { phoneNumberOperations } from './numbers/phone-number-operations.ts';
import type { Operation, OperationName } from './operation.ts';
import { defaultRequestBodyBytesMax, type ServiceBehaviour } from './service-options.ts';
import type { Store } from './store/open-store.ts';

export interface ServiceApp {
  readonly app: Hono<ServiceEnv>;
  /** Requests since the start, one entry per operation; refused ones count. */
  readonly counts: () => Record<OperationName, number>;
  /** Lets go of hanging requests and of late commits that have not begun. */
  readonly close: () => Promise<void>;
}

/** Throws `usage` errors: `keyMissing`, `limitMalformed`. */
export function createServiceApp(behaviour: ServiceBehaviour, store: Store): ServiceApp {
  const { clock, log } = behaviour;
  requirePositive('requestsPerSecond', behaviour.requestsPerSecond);
  requirePositive('pageNumbers', behaviour.pageNumbers);
  const counts: Record<OperationName, number> = {
    create: 0,
    get: 0,
    list: 0,
    update: 0,
    delete: 0,
    numbers: 0,
    fields: 0,
  };
  const background = createBackground(clock, behaviour.log);
  const parts: AnswerParts = {
    count: ({ name }) => {
      counts[name] += 1;
    },
    authenticate: createAuthentication(behaviour.apiKeys),
    takePlace: createRateLimit(behaviour.requestsPerSecond, clock),
    bodyBytesMax: behaviour.requestBodyBytesMax ?? defaultRequestBodyBytesMax,
    faults: createFaultSet(behaviour.faults, behaviour.faultSeed),
    background,
    clock,
    log,
  };
  const app = new Hono<ServiceEnv>();
  app.get('/healthz', () => sendReply({ status: 200, body: { status: 'ok' } }));
  if (behaviour.control) app.post('/__control', (context) => answerControl(context.req.raw, parts));
  addOperations(app, operationsOf(behaviour, store), parts);
  app.all('/v0/*', () => refuse(deprecated()));
  app.onError((error) => {
    log.error({ error: messageOf(error) }, 'request failed');
    return refuse(new Refusal(500, 'The service failed.', { variant: '01' }));
  });
  app.notFound(() => refuse(new Refusal(404, 'There is no such path. Every path starts with /v1.')));
  return {
    app,
    counts: () => ({ ...counts }),
    close: background.close,
  };
}

function operationsOf(behaviour: ServiceBehaviour, store: Store): readonly Operation[] {
  const { patchMode, pageNumbers, clock, reservedSources = defaultReservedSources } = behaviour;
  // Nothing in the interface changes definitions: they are read once.
  const definitions = new Map(store.customFields.all().map((one) => [one.key, one]));
  return [
    ...contactOperations({ store, definitions, patchMode, reservedSources, clock }),
    ...phoneNumberOperations({ phoneNumbers: store.phoneNumbers, pageNumbers }),
    ...customFieldOperations(definitions),
  ];
}

function addOperations(app: Hono<ServiceEnv>, operations: readonly Operation[], parts: AnswerParts): void {
  for (const operation of operations) {
    app.on(operation.method, operation.path, (context) => answerOperation(operation, context, parts));
  }
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const allowed = operations.filter((operation) => operation.path === path).map((operation) => operation.method);
    const headers = { allow: allowed.join(', ') };
    app.all(path, () => refuse(new Refusal(405, `This path answers ${allowed.join(', ')}.`, { headers })));
  }
}

/** Section 9: /v0 is deprecated. How it answers: not shown. 410, since nothing is served there any more. */
function deprecated(): Refusal {
  return new Refusal(410, 'The paths under /v0 are deprecated and no longer answered. Use /v1.');
}

/** A refusal where no operation is meant: the code names no resource. */
function refuse(refusal: Refusal): Response {
  return sendReply(errorReply(refusal, '00', newTrace()));
}

function requirePositive(name: string, value: number | null): void {
  if (value === null || (Number.isInteger(value) && value > 0)) return;
  throw new PatchbayError('usage', 'limitMalformed', `${name} must be a whole number above 0, not ${value}`, {
    facts: { name, value },
    hint: 'Leave it out for no limit.',
  });
}
