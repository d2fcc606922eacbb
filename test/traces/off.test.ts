/** Without `OTEL_*` variables nothing of OpenTelemetry is loaded by Patchbay. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const sources = ['src', 'jobs'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ path: join(folder, name), text: readFileSync(join(root, folder, name), 'utf8') })),
);

it('the libraries are imported by one file, and that file on demand alone', () => {
  const importers = sources.filter(({ text }) => /from '@opentelemetry\//.test(text)).map(({ path }) => path);
  expect(importers).toEqual(['src/traces/open-traces.ts']);
  const openers = sources.filter(({ text }) => text.includes('open-traces.ts'));
  expect(openers.map(({ path }) => path)).toEqual(['src/cli/open-home.ts']);
  expect(openers[0]?.text).toContain("await import('#src/traces/open-traces.ts')");
});

it('the metrics are loaded on demand as well, where they are served', () => {
  const importers = sources.filter(({ text }) => /from '(?:#src\/metrics|prom-client)/.test(text));
  const outside = importers.filter(({ path }) => !path.startsWith('src/metrics/'));
  expect(outside.map(({ path }) => path)).toEqual(['src/cli/commands/start.ts']);
  for (const { text } of outside) expect(text).toContain("import type { Metrics } from '#src/metrics/metrics.ts'");
});
