/**
 * The baseline: the same framework as it comes, which parses the body and answers an object of the same size, without
 * authentication, limits, validation and store.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { obey } from './server-process.ts';

let status: ContentfulStatusCode = 200;
let body: object = {};

const app = new Hono();
app.get('/v1/contacts', (context) => context.json(body, status));
app.get('/v1/contacts/:id', (context) => context.json(body, status));
app.post('/v1/contacts', async (context) => {
  await context.req.json();
  return context.json(body, status);
});
app.patch('/v1/contacts/:id', async (context) => {
  await context.req.json();
  return context.json(body, status);
});

const listener = getRequestListener(app.fetch);
const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
server.listen({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
obey(
  (server.address() as AddressInfo).port,
  (newStatus, newBody) => {
    status = newStatus as ContentfulStatusCode;
    body = newBody as object;
  },
  async () => {
    server.close();
    server.closeAllConnections();
  },
);
