/** The page of the public description, without a browser. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createLogger, silentLogger } from '#src/log.ts';
import { createDescriptionPage } from '#src/service/openapi/description-page.ts';
import { startTestService } from '../test-service.ts';

test('/docs needs no key, names only its own origin, and holds no script', async () => {
  const service = await startTestService();
  const answer = await fetch(`${service.origin}/docs`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'");
  expect(answer.headers.get('content-security-policy')).not.toMatch(/http|unsafe-eval/);
  const html = await answer.text();
  expect(html).not.toMatch(/https?:|<script>|\sstyle=|\son\w+=/);
  const addresses = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1] ?? '');
  expect(addresses).toHaveLength(4);
  for (const address of addresses) {
    const file = await fetch(service.origin + address);
    expect([address, file.status]).toEqual([expect.stringMatching(/^\/docs\/[0-9a-f]{16}-/), 200]);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(100);
  }
});

test.each(['/docs/', '/docs/package.json', '/docs/..%2fpackage.json', '/docs/swagger-ui-bundle.js'])(
  '%s is no file of the page',
  async (path) => {
    const service = await startTestService();
    expect((await fetch(service.origin + path)).status).toBe(404);
  },
);

test('without the viewer the page says what is missing and where the description is', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'viewer-'));
  onTestFinished(() => rmSync(empty, { recursive: true }));
  const notInstalled = () => createRequire(import.meta.url).resolve('no-such-viewer/package.json');
  for (const findFolder of [notInstalled, () => empty, () => join(empty, 'gone')]) {
    const page = createDescriptionPage(findFolder, silentLogger());
    const answer = page.answerPage();
    expect(answer.status).toBe(503);
    expect(await answer.text()).toMatch(/swagger-ui-dist.*\/openapi\.json/);
    expect(page.answerFile('swagger-ui.css').status).toBe(404);
  }
});

test('the viewer is looked for once, also where it is missing', () => {
  let lookCount = 0;
  const findFolder = () => {
    lookCount += 1;
    throw Object.assign(new Error('not there'), { code: 'MODULE_NOT_FOUND' });
  };
  const page = createDescriptionPage(findFolder, silentLogger());
  for (let turn = 0; turn < 3; turn += 1) expect(page.answerPage().status).toBe(503);
  page.answerFile('swagger-ui.css');
  expect(lookCount).toBe(1);
});

test('a viewer that is there and cannot be read is told as that, and logged once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'viewer-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'swagger-ui.css'));
  const lines: string[] = [];
  const log = createLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } });
  const page = createDescriptionPage(() => folder, log);
  const answer = page.answerPage();
  expect(answer.status).toBe(500);
  const text = await answer.text();
  expect(text).toContain('cannot be read (EISDIR)');
  expect(text).not.toContain('not installed');
  expect(page.answerPage().status).toBe(500);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'error', error: expect.any(String) }]);
});
