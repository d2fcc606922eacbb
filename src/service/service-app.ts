/**
 * The workspace service as a function from request to response, without a port.
 *
 * The table of operations is the interface: each path answers its operations, 405 for other methods, and everything
 * else is 404. The caller owns the store.
 */
import { Hono } from 'hono';
import { answerControl, type ControlParts, createBackground, showControl } from './faults/answer-with-faults.ts';
import { createFaultSet } from './faults/faults.ts';
import { createKeyFinder, createRateLimit, type RateHeaders } from './http/access.ts';
import { noSuchPath, versionGone, wrongMethod } from './http/refusal.ts';
import { createReplyOutside, type ReplyOutside, sendReply, withRateHeaders } from './http/replies.ts';
import { type SettledKeys, settleKeys } from './keys.ts';
import { addDescription, type ObservedReply, type ObserveReply, openApiDocument } from './openapi/openapi-document.ts';
import { describedPath } from './openapi/operation-object.ts';
import { type AnswerParts, answerOperation } from './operations/answer-operation.ts';
import type { ServiceEnv } from './operations/exchange.ts';
import { createFailureLog } from './operations/failure-log.ts';
import { createRequestCounts, type Operation, type Reply, textOfBody } from './operations/operation.ts';
import { serviceOperations } from './operations/service-operations.ts';
import { createPageTokens } from './paging.ts';
import {
  checkBehaviour,
  defaultErrorDocs,
  defaultRequestBodyBytesMax,
  type ServiceBehaviour,
} from './service-options.ts';
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
  const { clock, log, requestsPerSecond, errorDocs = defaultErrorDocs } = behaviour;
  checkBehaviour(behaviour);
  const pageTokens = createPageTokens(store.pageTokenSecret);
  const operations = serviceOperations(behaviour, store, pageTokens);
  const document = () => openApiDocument(operations, { errorDocs, isRateLimited: requestsPerSecond !== null });
  const observe = behaviour.replyObserver?.(document()) ?? null;
  const counts = createRequestCounts();
  const background = createBackground(clock, log);
  const keys = settleKeys(behaviour.apiKeys, store.apiKeys.all());
  const parts: AnswerParts = {
    count: counts.count,
    findKey: createKeyFinder(keys.known),
    rateLimit: createRateLimit(requestsPerSecond, clock),
    errorDocs,
    bodyBytesMax: behaviour.requestBodyBytesMax ?? defaultRequestBodyBytesMax,
    faults: createFaultSet(behaviour.faults, behaviour.faultSeed),
    pageTokens,
    background,
    clock,
    log,
    tellFailure: createFailureLog(log, clock, background.closing),
    observe: observe === null ? null : (operation, reply) => observe(observedReply(operation, reply)),
  };
  const replyOutside = createReplyOutside(log, errorDocs);
  const refuse = createRefuse(
    ({ headers }) => parts.rateLimit.standing(parts.findKey(headers.get('authorization'))),
    observe,
    replyOutside,
  );
  // What is beside the interface has no rate.
  const refuseBeside = createRefuse(() => null, observe, replyOutside);
  const app = new Hono<ServiceEnv>();
  app.get('/healthz', () => sendReply({ status: 200, body: { status: 'ok' } }));
  if (behaviour.control) addControl(app, parts, refuseBeside);
  addDescription(app, document, log);
  for (const path of readOnlyPaths) app.all(path, ({ req }) => refuseBeside(wrongMethod(['GET']), req.raw));
  addOperations(app, operations, parts, refuse);
  app.all('/v0/*', ({ req }) => refuse(versionGone(), req.raw));
  app.onError((error, { req }) => refuse(error, req.raw));
  app.notFound(({ req }) => refuse(noSuchPath(req.path), req.raw));
  return { app, keys, counts: counts.all, close: background.close };
}

/** Answers a refusal, or a failure, where no operation is meant. */
type Refuse = (problem: unknown, request: Request) => Response;

function createRefuse(
  rateHeadersOf: (request: Request) => RateHeaders | null,
  observe: ObserveReply | null,
  replyOutside: ReplyOutside,
): Refuse {
  return (problem, request) => {
    const reply = withRateHeaders(rateHeadersOf(request), replyOutside(problem));
    observe?.(observedReply(null, reply));
    return sendReply(reply);
  };
}

function addControl(app: Hono<ServiceEnv>, parts: ControlParts, refuse: Refuse): void {
  app.get('/__control', () => showControl(parts));
  app.post('/__control', ({ req, env }) => {
    const source = { request: req.raw, incoming: env?.incoming };
    return answerControl(source, parts, (problem) => refuse(problem, req.raw));
  });
  app.all('/__control', ({ req }) => refuse(wrongMethod(['GET', 'POST']), req.raw));
}

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
      if (operation === undefined) return refuse(wrongMethod([...byMethod.keys()]), context.req.raw);
      return answerOperation(operation, context, parts);
    });
  }
}

function observedReply(operation: Operation | null, { status, headers = {}, body }: Reply): ObservedReply {
  const meant = { method: operation?.method ?? null, path: operation === null ? null : describedPath(operation.path) };
  return { ...meant, status, headers, text: textOfBody(body) };
}
