/** A receiver of OTLP over HTTP with JSON, on loopback. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

const value = z.object({
  stringValue: z.string().optional(),
  intValue: z.union([z.number(), z.string()]).optional(),
  boolValue: z.boolean().optional(),
});
const attributes = z.array(z.object({ key: z.string(), value }));
const span = z.object({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes,
  status: z.object({ code: z.number(), message: z.string().optional() }),
});
const body = z.object({
  resourceSpans: z.array(
    z.object({ resource: z.object({ attributes }), scopeSpans: z.array(z.object({ spans: z.array(span) })) }),
  ),
});

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the root. */
  readonly parentSpanId: string | null;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly resource: Readonly<Record<string, string | number | boolean>>;
  /** Nanoseconds since 1970. */
  readonly beganAt: bigint;
  readonly endedAt: bigint;
  /** Of a span that failed. */
  readonly failure: string | null;
}

export interface TraceReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly text: string }[];
}

/** Closed when the test ends. */
export async function startTraceReceiver(): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders; text: string }[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString('utf8');
    requests.push({ path: request.url ?? '', headers: request.headers, text });
    for (const { resource, scopeSpans } of body.parse(JSON.parse(text)).resourceSpans)
      for (const one of scopeSpans.flatMap((scope) => scope.spans)) spans.push(receivedSpan(one, resource.attributes));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, spans, requests };
}

function receivedSpan(one: z.infer<typeof span>, resource: z.infer<typeof attributes>): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId = '', status } = one;
  return {
    ...{ name, traceId, spanId, parentSpanId: parentSpanId === '' ? null : parentSpanId },
    ...{ beganAt: BigInt(one.startTimeUnixNano), endedAt: BigInt(one.endTimeUnixNano) },
    attributes: valuesOf(one.attributes),
    resource: valuesOf(resource),
    failure: status.code === 2 ? (status.message ?? '') : null,
  };
}

function valuesOf(all: z.infer<typeof attributes>): Record<string, string | number | boolean> {
  return Object.fromEntries(
    all.map(({ key, value: { stringValue, intValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? (boolValue ?? '') : Number(intValue)),
    ]),
  );
}
