import type { HttpBindings } from '@hono/node-server';

/** What the framework hands on with a request. Without a port there are no bindings. */
export type ServiceEnv = { Bindings: Partial<HttpBindings> };
