/**
 * What kills, restarts, restores or damages real processes and their files, what goes the whole way of a user from one command
 * to the next, the sessions of the documents too, and what needs Redis, PostgreSQL or a browser
 * (skipped by name where they are missing): `npm run test:system`, after `npm test` in `.ci/run`.
 */
import { defineConfig } from 'vitest/config';
import { inMemoryWhereThereIsRoom, systemTests } from './vitest.config.ts';

export default defineConfig({
  test: {
    include: systemTests,
    // These tests wait for processes, not for the processor: more of them than there are cores may go on at once.
    maxWorkers: 4,
    isolate: false,
    env: inMemoryWhereThereIsRoom(),
    // Several processes start one after the other, perhaps on a busy machine: this ends a test that hangs, nothing else.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'coverage/system.json' }]] : ['default'],
  },
});
