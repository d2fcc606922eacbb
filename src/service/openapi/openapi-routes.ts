/** `GET /openapi.json`, the public description, and `GET /docs`, its page for people. Neither needs a key. */
import { createHash } from 'node:crypto';
import type { Hono } from 'hono';
import type { Logger } from '#src/log.ts';
import { hasAlready } from '../http/if-none-match.ts';
import type { ServiceEnv } from '../service-env.ts';
import { createDescriptionPage, viewerFolder } from './description-page.ts';
import type { OpenApiDocument } from './openapi-document.ts';

/** `document` is written at the first request: a service that nobody asks need not. */
export function addDescription(app: Hono<ServiceEnv>, document: () => OpenApiDocument, log: Logger): void {
  let written: { readonly text: string; readonly etag: string } | undefined;
  app.get('/openapi.json', (context) => {
    written ??= write(document());
    const headers = { etag: written.etag, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
    if (hasAlready(context.req.header('if-none-match'), written.etag))
      return new Response(null, { status: 304, headers });
    return new Response(written.text, { headers: { ...headers, 'content-type': 'application/json' } });
  });
  const page = createDescriptionPage(viewerFolder, log);
  app.get('/docs', () => page.answerPage());
  app.get('/docs/:file', (context) => page.answerFile(context.req.param('file')));
}

function write(document: OpenApiDocument) {
  const text = JSON.stringify(document);
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}
