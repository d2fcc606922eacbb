/**
 * The page of the public description: swagger-ui, served from the installed package, and a starter of ours.
 *
 * No script or style is in the page itself, and nothing comes from another origin. A file's address holds the hash of its
 * content, so that it may be kept for ever. Without the package the page says so, and the service goes on.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';

export interface DescriptionPage {
  readonly answerPage: () => Response;
  readonly answerFile: (name: string) => Response;
}

interface PageFile {
  /** Under `/docs/`. */
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface Page {
  readonly html: string;
  readonly files: ReadonlyMap<string, PageFile>;
}

interface Unreadable {
  readonly status: number;
  /** A sentence for those who open the page. */
  readonly problem: string;
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The viewer's own pictures are in its style sheet.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const commonHeaders = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** The folder of the installed viewer. Throws `MODULE_NOT_FOUND` where it is not installed. */
export function viewerFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
}

/** The files are read when the page is first asked for, and not again: also not where they cannot be read. */
export function createDescriptionPage(findFolder: () => string, log: Logger): DescriptionPage {
  let page: Page | Unreadable | undefined;
  const read = (): Page | Unreadable => {
    page ??= readPage(findFolder, log);
    return page;
  };
  return {
    answerPage: () => {
      const found = read();
      if ('problem' in found) return plainText(found.status, `${found.problem} The description is at /openapi.json.`);
      const headers = { 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-cache' };
      return new Response(found.html, {
        headers: { ...commonHeaders, ...headers, 'content-type': 'text/html; charset=utf-8' },
      });
    },
    answerFile: (name) => {
      const found = read();
      const file = 'problem' in found ? undefined : found.files.get(name);
      if (file === undefined) return plainText(404, 'There is no such file. The page is at /docs.');
      const headers = { 'content-type': file.type, 'cache-control': 'public, max-age=31536000, immutable' };
      return new Response(file.bytes, { headers: { ...commonHeaders, ...headers } });
    },
  };
}

function readPage(findFolder: () => string, log: Logger): Page | Unreadable {
  try {
    const folder = findFolder();
    const style = pageFile(join(folder, 'swagger-ui.css'), 'text/css; charset=utf-8');
    const icon = pageFile(join(folder, 'favicon-32x32.png'), 'image/png');
    const viewer = pageFile(join(folder, 'swagger-ui-bundle.js'), 'text/javascript; charset=utf-8');
    const starter = pageFile(join(import.meta.dirname, 'browser', 'start.js'), 'text/javascript; charset=utf-8');
    return {
      html: pageHtml(style.name, icon.name, [viewer.name, starter.name]),
      files: new Map([style, icon, viewer, starter].map((file) => [file.name, file])),
    };
  } catch (error) {
    return unreadable(error, log);
  }
}

/** Why there is no page, for its reader. Where the viewer is there and cannot be read, the log knows more. */
function unreadable(error: unknown, log: Logger): Unreadable {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  // Incomplete is as good as not installed.
  if (code === 'MODULE_NOT_FOUND' || code === 'ENOENT') {
    return { status: 503, problem: 'This page needs the package swagger-ui-dist, which is not installed.' };
  }
  log.error({ error: messageOf(error) }, 'description page not readable');
  return { status: 500, problem: `The files of this page cannot be read (${code}).` };
}

/** Throws the system's errors. */
function pageFile(path: string, type: string): PageFile {
  const bytes = new Uint8Array(readFileSync(path));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { name: `${hash}-${path.split(/[\\/]/).at(-1)}`, type, bytes };
}

function pageHtml(style: string, icon: string, scripts: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Contacts and Phone Numbers Service</title>
<link rel="stylesheet" href="/docs/${style}">
<link rel="icon" type="image/png" href="/docs/${icon}">
<body>
<main id="description"><noscript>This page needs JavaScript. The description is at /openapi.json.</noscript></main>
${scripts.map((name) => `<script src="/docs/${name}"></script>`).join('\n')}
</body>
</html>
`;
}

function plainText(status: number, text: string): Response {
  const headers = { ...commonHeaders, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
  return new Response(`${text}\n`, { status, headers });
}
