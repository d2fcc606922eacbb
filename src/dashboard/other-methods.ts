/** The answer of an address that is there to a method that it does not take. */
import type { Context, Hono } from 'hono';

/**
 * Behind all routes of the app: each of their addresses names in `Allow` what it takes.
 * @param refuse the answer, whose status is 405.
 */
export function refuseOtherMethods(app: Hono, refuse: (c: Context) => Response | Promise<Response>): void {
  const routes = Map.groupBy(
    app.routes.filter(({ method }) => method !== 'ALL'),
    ({ path }) => path,
  );
  for (const [path, ofPath] of routes) {
    const taken = new Set(ofPath.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])));
    app.all(path, (c) => {
      c.header('allow', [...taken].join(', '));
      return refuse(c);
    });
  }
}

export const otherMethod = {
  status: 405,
  code: 'methodNotAllowed',
  message: 'nothing is done by this method here',
  hint: 'Ask for the page with GET: pages show, and change nothing. What a person decides is done by commands.',
} as const;
