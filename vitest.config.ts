import { statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** They have a run of their own, which a container engine on the machine makes whole: `npm run test:containers`. */
export const containerTests = ['test/**/container-*.test.ts', 'test/containers/**/*.test.ts'];

/** They have a run of their own: `npm run test:system`. */
export const systemTests = [
  'test/system/**/*.test.ts',
  'test/journeys/**/*.test.ts',
  'test/docs/sessions.test.ts',
  ...['test/**/*redis*.test.ts', 'test/**/*postgres*.test.ts', 'test/**/browser.test.ts'],
  // Whole ways of files in one process: plans, imports and undos one after the other; requests that run into their time limits.
  ...[
    'test/plans/plan.test.ts',
    'test/plans/show.test.ts',
    'test/plans/undo.test.ts',
    'test/snapshots/take-snapshot.test.ts',
  ],
  ...['test/workspace/http-reads.test.ts', 'test/workspace/http-writes.test.ts', 'test/takes/download-limits.test.ts'],
  // A queue server of its own, killed and started again; an engine that waits out an outage.
  ...['test/queue/embedded-queue.test.ts', 'test/queue/embedded/*.test.ts', 'test/engine/outage.test.ts'],
];

/** Any input, or all there is: they have a run of their own, `npm run test:proofs`. */
export const proofTests = [
  ...['test/model/**/*.test.ts', 'test/bench/**/*.test.ts', 'test/corpora/**/*.test.ts'],
  ...['test/**/*properties.test.ts', 'test/mapping/numbering-plans.test.ts', 'test/runs/known-rows.test.ts'],
  ...['test/dead-letters/export-presets.test.ts', 'test/dead-letters/parts-of-contacts.test.ts'],
  ...['test/upsert/made-again-in-doubt.test.ts', 'test/upsert/key-moved-in-doubt.test.ts'],
  'test/runs/partial-runs.test.ts',
  ...['test/plans/undo-whose-values.test.ts', 'test/plans/undo-several-feeds.test.ts'],
  // Nights of files, one after the other: what several feeds say of the same people, who left, and fix-files.
  ...['test/runs/others-values.test.ts', 'test/runs/several-feeds.test.ts', 'test/runs/tagged-people.test.ts'],
  ...[
    'test/runs/column-fill.test.ts',
    'test/runs/lacked-columns.test.ts',
    'test/runs/missing-people.test.ts',
    'test/runs/look/made-again.test.ts',
    'test/runs/look/keys-of-letters.test.ts',
    'test/runs/look/derived-keys.test.ts',
  ],
  ...[
    'test/runs/fix/fix-file-again.test.ts',
    'test/runs/fix/fix-file-key.test.ts',
    'test/runs/fix/fix-file-order.test.ts',
  ],
  ...['test/dead-letters/rows-of-one-key.test.ts', 'test/upsert/linking.test.ts'],
  ...['test/dead-letters/age-of-collided-rows.test.ts', 'test/dead-letters/mend-letters.test.ts'],
  ...['test/runs/held-rows.test.ts', 'test/runs/list-elements.test.ts', 'test/runs/missing-in-doubt.test.ts'],
  ...['test/runs/workbooks.test.ts', 'test/plans/undo-adopted.test.ts', 'test/operations/forget-unknown.test.ts'],
  // Whole imports of one feed, several in each test, and what commands say of them.
  ...['test/runs/verify.test.ts', 'test/runs/check-workspace.test.ts', 'test/runs/duplicate-keys.test.ts'],
  ...['test/runs/recognised-files.test.ts', 'test/runs/feed-files.test.ts', 'test/runs/vcard-files.test.ts'],
  ...['test/runs/fix/fix-file.test.ts', 'test/runs/fix/fix-file-columns.test.ts'],
  ...[
    'test/runs/erase/forgotten-people.test.ts',
    'test/operations/held-fields.test.ts',
    'test/dead-letters/redrive.test.ts',
  ],
  ...['test/cli/schedule-commands.test.ts', 'test/cli/numbers-commands.test.ts', 'test/cli/whole-lists.test.ts'],
];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...systemTests, ...containerTests, ...proofTests],
    // Many tests wait for processes, not for the processor: more of them than there are cores may go on at once.
    maxWorkers: 4,
    // No test changes what another file sees; a module that is loaded once serves all files of a worker.
    isolate: false,
    // Short-lived objects of many tests: the collector's default for the young generation costs a fifth of the time.
    execArgv: ['--max-semi-space-size=64'],
    env: inMemoryWhereThereIsRoom(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'coverage/vitest.json' }]] : ['default'],
  },
});

/** Temporary files go to memory where the system has room for them there: a ledger that is synced costs most of a test. */
export function inMemoryWhereThereIsRoom(): Record<string, string> {
  const folder = '/dev/shm';
  const bytesMin = 4 * 1024 ** 3;
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= bytesMin ? { TMPDIR: folder } : {};
  } catch {
    return {};
  }
}
