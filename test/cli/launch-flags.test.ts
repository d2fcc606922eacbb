/** The launcher's flags keep long imports small; every way to start has the same. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { launchFlags } from '../bench/launch-flags.ts';

const read = (path: string) => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');

test('the launcher, npm start, the image and the benchmarks start Node with the same flags', () => {
  const flags = launchFlags.join(' ');
  expect(read('src/cli/patchbay.mjs').split('\n')[0]).toBe(`#!/usr/bin/env -S node ${flags}`);
  expect(JSON.parse(read('package.json')).scripts.start).toBe(`node ${flags} src/cli/patchbay.mjs start`);
  const entry = JSON.stringify(['node', ...launchFlags, 'src/cli/patchbay.mjs']).replaceAll(',', ', ');
  expect(read('Dockerfile')).toContain(`ENTRYPOINT ${entry}`);
});
