/** A bounded slice of the proofs in `test/model`, and the ratios that `test/bench` holds; `npm run torture` is the long run. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/model/**/*.test.ts', 'test/bench/**/*.test.ts'],
    // What needs a server is among the system tests.
    exclude: ['test/**/*postgres*.test.ts'],
    // Each proof keeps a processor busy.
    maxWorkers: 2,
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'coverage/proofs.json' }]] : ['default'],
  },
});
