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
import { callOperations } from './calls/call-operations.ts';
import { contactOperations } from './contacts/contact-operations.ts';
import { defaultReservedSources } from './contacts/reserved-sources.ts';
import { answerControl, showControl } from './control.ts';
import { customFieldOperations } from './custom-fields/custom-field-operations.ts';
import { createFaultSet } from './faults/fault-set.ts';
import { createAuthentication } from './http/authentication.ts';
import { errorReply, newTrace } from './http/error-reply.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { Refusal } from './http/refusal.ts';
import { sendReply } from './http/send-reply.ts';
import { type SettledKeys, settleKeys } from './keys/settle-keys.ts';
import { messageOperations } from './messages/message-operations.ts';
import { phoneNumberOperations } from './numbers/phone-number-operations.ts';
import { openApiDocument } from './openapi/openapi-document.ts';
import { addDescription } from './openapi/openapi-routes.ts';
import { describedPath } from './openapi/operation-object.ts';
import { type Operation, type OperationName, operationNames, type Reply } from './operation.ts';
import { textOfBody } from './ready-body.ts';
import { recordingOperations } from './recordings/recording-operations.ts';
import type { ObservedReply } from './reply-observer.ts';
import { defaultRequestBodyBytesMax, type ServiceBehaviour } from './service-options.ts';
import type { Store } from './store/open-store.ts';

/** Paths beside the interface's that are only read. */
const readOnlyPaths = ['/healthz', '/openapi.json', '/docs', '/docs/:file'] as const;

export interface ServiceApp {
  readonly app: Hono<ServiceEnv>;
  /** The keys that open it. The caller has the store remember them once it serves. */
  readonly keys: SettledKeys;
  /** Requests since the start, one entry per operation; refused ones count. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** Lets go of hanging requests and of late commits that have not begun. */
  readonly close: () => Promise<void>;
}

/** Throws `usage` errors: `keyMalformed`, `tooManyKeys`, `limitMalformed`. */
export function createServiceApp(behaviour: ServiceBehaviour, store: Store): ServiceApp {
  const { clock, log } = behaviour;
  requirePositive('requestsPerSecond', behaviour.requestsPerSecond);
  requirePositive('pageNumbers', behaviour.pageNumbers);
  const operations = operationsOf(behaviour, store);
  const document = () => openApiDocument(operations);
  const observe = behaviour.replyObserver?.(document()) ?? null;
  const counts = new Map<OperationName, number>(operationNames.map((name) => [name, 0]));
  const background = createBackground(clock, behaviour.log);
  const keys = settleKeys(behaviour.apiKeys, store.apiKeys.all());
  const parts: AnswerParts = {
    count: ({ name }) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    authenticate: createAuthentication(keys.known),
    takePlace: createRateLimit(behaviour.requestsPerSecond, clock),
    bodyBytesMax: behaviour.requestBodyBytesMax ?? defaultRequestBodyBytesMax,
    faults: createFaultSet(behaviour.faults, behaviour.faultSeed),
    background,
    clock,
    log,
    observe: observe === null ? null : (operation, reply) => observe(observedReply(operation, reply)),
  };
  const refuse = (refusal: Refusal): Response => {
    const reply = errorReply(refusal, '00', newTrace());
    observe?.(observedReply(null, reply));
    return sendReply(reply);
  };
  const app = new Hono<ServiceEnv>();
  app.get('/healthz', () => sendReply({ status: 200, body: { status: 'ok' } }));
  if (behaviour.control) {
    app.get('/__control', () => showControl(parts));
    app.post('/__control', (context) => answerControl(context.req.raw, parts));
    app.all('/__control', () => refuse(wrongMethod(['GET', 'POST'])));
  }
  addDescription(app, document);
  for (const path of readOnlyPaths) app.all(path, () => refuse(wrongMethod(['GET'])));
  addOperations(app, operations, parts, refuse);
  app.all('/v0/*', () => refuse(deprecated()));
  app.onError((error) => {
    log.error({ error: messageOf(error) }, 'request failed');
    return refuse(new Refusal(500, 'The service failed.', { variant: '01' }));
  });
  app.notFound(() => refuse(new Refusal(404, 'There is no such path. Every path starts with /v1.')));
  return {
    app,
    keys,
    counts: () => Object.fromEntries(counts),
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
    ...callOperations(store),
    ...recordingOperations(store),
    ...messageOperations({ store, clock, internationalMessaging: behaviour.internationalMessaging ?? false }),
  ];
}

/** Answers a refusal where no operation is meant: the code names no resource. */
type Refuse = (refusal: Refusal) => Response;

function addOperations(
  app: Hono<ServiceEnv>,
  operations: readonly Operation[],
  parts: AnswerParts,
  refuse: Refuse,
): void {
  for (const [path, ofPath] of Map.groupBy(operations, (operation) => operation.path)) {
    const byMethod = new Map<string, Operation>(ofPath.map((operation) => [operation.method, operation]));
    // One handler for all methods: where several match, the framework chains them for every request.
    app.all(path, (context) => {
      const { method } = context.req;
      const operation = byMethod.get(method === 'HEAD' ? 'GET' : method);
      if (operation === undefined) return refuse(wrongMethod([...byMethod.keys()]));
      return answerOperation(operation, context, parts);
    });
  }
}

/** HEAD is answered wherever GET is, and not named. */
function wrongMethod(allowed: readonly string[]): Refusal {
  const allow = allowed.join(', ');
  return new Refusal(405, `This path answers ${allow}.`, { headers: { allow } });
}

/** Section 9: /v0 is deprecated. How it answers: not shown. 410, since nothing is served there any more. */
function deprecated(): Refusal {
  return new Refusal(410, 'The paths under /v0 are deprecated and no longer answered. Use /v1.');
}

function observedReply(operation: Operation | null, { status, headers = {}, body }: Reply): ObservedReply {
  const meant = { method: operation?.method ?? null, path: operation === null ? null : describedPath(operation.path) };
  return { ...meant, status, headers, text: textOfBody(body) };
}

function requirePositive(name: string, value: number | null): void {
  if (value === null || (Number.isInteger(value) && value > 0)) return;
  throw new PatchbayError('usage', 'limitMalformed', `${name} must be a whole number above 0, not ${value}`, {
    facts: { name, value },
    hint: 'Leave it out for no limit.',
  });
}
