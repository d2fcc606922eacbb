import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The proofs have a run of their own: `npm run test:proofs`.
    exclude: ['test/bench/**', 'test/model/**'],
    // Many tests wait for processes, not for the processor: more of them than there are cores may go on at once.
    maxWorkers: 4,
    // No test changes what another file sees; a module that is loaded once serves all files of a worker.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'coverage/vitest.json' }]] : ['default'],
  },
});
