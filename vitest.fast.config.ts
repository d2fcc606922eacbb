/** What is pure or stays within this process, for the minutes of writing code: `npm run test:fast`, a part of `npm test`. */
import { defineConfig } from 'vitest/config';
import { proofTests } from './vitest.config.ts';

const modules = [
  ...['config', 'contacts', 'feeds', 'json', 'ledger', 'mapping', 'notices', 'operations', 'schedules'],
  ...['sources', 'workspace'],
];

export default defineConfig({
  test: {
    include: ['test/*.test.ts', 'test/docs/citations.test.ts', ...modules.map((name) => `test/${name}/**/*.test.ts`)],
    exclude: [...proofTests, 'test/**/*postgres*.test.ts', 'test/**/container-*.test.ts'],
    isolate: false,
    testTimeout: 60_000,
  },
});
