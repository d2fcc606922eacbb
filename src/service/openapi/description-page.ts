/**
 * The page of the public description: swagger-ui, served from the installed package, and a starter of ours.
 *
 * No script or style stands in the page, and nothing comes from another origin. A file's address holds the hash of its
 * content, so that it may be kept for ever. Without the package the page says so, and the service goes on.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

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

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The viewer's own pictures stand in its style sheet.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const commonHeaders = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** The folder of the installed viewer; null where it is not installed. */
export function viewerFolder(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  } catch {
    // Not installed: the page says so to whoever opens it.
    return null;
  }
}

/** The files are read when the page is first asked for. */
export function createDescriptionPage(folder: string | null): DescriptionPage {
  let page: Page | null | undefined;
  const read = (): Page | null => {
    page ??= folder === null ? null : readPage(folder);
    return page;
  };
  return {
    answerPage: () => {
      const html = read()?.html;
      if (html === undefined) return missing();
      const headers = { 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-cache' };
      return new Response(html, {
        headers: { ...commonHeaders, ...headers, 'content-type': 'text/html; charset=utf-8' },
      });
    },
    answerFile: (name) => {
      const file = read()?.files.get(name);
      if (file === undefined) return plainText(404, 'There is no such file. The page is at /docs.');
      const headers = { 'content-type': file.type, 'cache-control': 'public, max-age=31536000, immutable' };
      return new Response(file.bytes, { headers: { ...commonHeaders, ...headers } });
    },
  };
}

/** Null where a file of the viewer is missing. */
function readPage(folder: string): Page | null {
  try {
    const style = pageFile(join(folder, 'swagger-ui.css'), 'text/css; charset=utf-8');
    const icon = pageFile(join(folder, 'favicon-32x32.png'), 'image/png');
    const viewer = pageFile(join(folder, 'swagger-ui-bundle.js'), 'text/javascript; charset=utf-8');
    const starter = pageFile(join(import.meta.dirname, 'browser', 'start.js'), 'text/javascript; charset=utf-8');
    return {
      html: pageHtml(style.name, icon.name, [viewer.name, starter.name]),
      files: new Map([style, icon, viewer, starter].map((file) => [file.name, file])),
    };
  } catch {
    // Incomplete is as good as not installed.
    return null;
  }
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

function missing(): Response {
  return plainText(
    503,
    'This page needs the package swagger-ui-dist, which is not installed. The description is at /openapi.json.',
  );
}

function plainText(status: number, text: string): Response {
  const headers = { ...commonHeaders, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
  return new Response(`${text}\n`, { status, headers });
}
