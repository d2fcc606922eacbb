/** Each metric stands in the table of `docs/operations.md`, with its labels; and nothing stands there that is not exposed. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exposedMetrics } from './support/exposed-metrics.ts';

const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

it('each metric is documented with its labels, and each documented one is exposed', async () => {
  const documented = [...operations.matchAll(/^\| `(patchbay_\w+)` \|([^|]*)\|/gm)].map(([, name, labels = '']) => {
    return { name, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).toSorted() };
  });
  const exposed = (await exposedMetrics()).filter(({ name }) => name.startsWith('patchbay_'));
  const byName = <One extends { readonly name: string | undefined }>(all: readonly One[]) =>
    all.toSorted((a, b) => `${a.name}`.localeCompare(`${b.name}`));
  expect(byName(documented)).toEqual(byName(exposed.map(({ name, labels }) => ({ name, labels }))));
});
