/**
 * What runs in containers, on any engine that answers: the contracts of queue and ledger, and the composition (`npm run test:containers`).
 * Without an engine its tests are skipped by name, and what holds the files of the composition runs all the same.
 */
import { defineConfig } from 'vitest/config';
import { containerTests } from './vitest.config.ts';

export default defineConfig({
  test: {
    include: containerTests,
    // One composition and its import keep a machine busy.
    maxWorkers: 1,
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: process.env.CI ? ['verbose', ['json', { outputFile: 'coverage/containers.json' }]] : ['verbose'],
  },
});
