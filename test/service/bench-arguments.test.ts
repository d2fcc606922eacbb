/** The benchmark of the service measures what it is asked for, or says what it can be asked for. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const program = join(import.meta.dirname, '../bench/service.ts');

test.each([
  [['soon'], 'SECONDS must be a number above 0'],
  [['0'], 'SECONDS must be a number above 0'],
  [['-1', 'get'], 'SECONDS must be a number above 0'],
  [['1', 'gets'], 'those are get, list, create, patch, million, slow'],
  [['1', 'get', 'list'], 'more than two arguments'],
])('the arguments %j are a usage error', (given, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...given], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
  expect(stderr).toContain('[SECONDS] [CASE]');
});
