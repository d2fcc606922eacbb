/** What a job that ends early again and again waits for. */
import { expect, it } from 'vitest';
import { waitedFor } from '#src/operations/job-failures.ts';

it.each([
  ['folderUnusable', 'folder'],
  ['diskFull', 'folder'],
  ['diskFails', 'folder'],
  ['requestRefused', 'service'],
  ['columnMissing', null],
])('%s: %s', (code, what) => {
  expect(waitedFor({ code })).toBe(what);
});
