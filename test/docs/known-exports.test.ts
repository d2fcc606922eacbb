/** The table of known exports says what the presets do. */
import { expect, it } from 'vitest';
import { loadPresets } from '#src/mapping/load-mapping.ts';
import { withKnownExports } from './support/known-exports.ts';
import { readDocument } from './support/read-document.ts';

it('docs/mapping.md has the table of known exports as generated', async () => {
  const text = withKnownExports(readDocument('docs/mapping.md'), await loadPresets());
  await expect(text).toMatchFileSnapshot('../../docs/mapping.md');
});
