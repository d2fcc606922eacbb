/** A bounded slice of the proofs in `test/model`, properties, and the ratios that `test/bench` holds; `npm run torture` is the long run. */
import { defineConfig } from 'vitest/config';
import { proofTests } from './vitest.config.ts';

export default defineConfig({
  test: {
    include: proofTests,
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
