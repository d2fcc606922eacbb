/** The log files of a data folder: they roll over by size, the oldest leave, and a line that cannot be written stops nothing. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openLogFiles } from '#src/cli/log-files.ts';

const limits = { bytesMax: 10, filesMax: 2 };

function logFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'pb-log-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const contents = () =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  return { folder, contents };
}

it('a full file is followed by the next one, and only the newest stay', () => {
  const { folder, contents } = logFolder();
  writeFileSync(join(folder, 'notes.txt'), 'not ours');
  const files = openLogFiles(folder, limits);
  for (const line of ['first\n', 'second\n', 'third\n', 'fourth\n', 'fifth\n']) files.write(line);
  expect(contents()).toEqual({
    'notes.txt': 'not ours',
    'patchbay.2.ndjson': 'third\nfourth\n',
    'patchbay.3.ndjson': 'fifth\n',
  });
  expect(statSync(join(folder, 'patchbay.3.ndjson')).mode & 0o777).toBe(0o600);
});

it('the next process goes on in the newest file, by its number, and counts what is there', () => {
  const { folder, contents } = logFolder();
  writeFileSync(join(folder, 'patchbay.9.ndjson'), 'before\n');
  writeFileSync(join(folder, 'patchbay.10.ndjson'), 'before\n');
  const files = openLogFiles(folder, limits);
  files.write('now\n');
  files.write('next\n');
  expect(contents()).toEqual({ 'patchbay.10.ndjson': 'before\nnow\n', 'patchbay.11.ndjson': 'next\n' });
});

it('two processes write whole lines beside each other, and each rolls over by itself', () => {
  const { folder, contents } = logFolder();
  const [one, other] = [openLogFiles(folder, limits), openLogFiles(folder, limits)];
  one.write('one 1\n');
  other.write('two 1\n');
  one.write('one 2\n');
  one.write('one 3\n');
  other.write('two 2\n');
  other.write('two 3\n');
  expect(contents()).toEqual({
    'patchbay.1.ndjson': 'one 1\ntwo 1\none 2\ntwo 2\n',
    'patchbay.2.ndjson': 'one 3\ntwo 3\n',
  });
});

it('a line that cannot be written is lost, and the next one is tried again', () => {
  const { folder, contents } = logFolder();
  const files = openLogFiles(folder, limits);
  files.write('a full file\n');
  rmSync(folder, { recursive: true });
  files.write('lost\n');
  mkdirSync(folder);
  files.write('kept\n');
  expect(contents()).toEqual({ 'patchbay.2.ndjson': 'kept\n' });
});
