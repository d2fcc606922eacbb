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
  const still = { monotonicMs: () => 0 };
  const [one, other] = [openLogFiles(folder, limits, still), openLogFiles(folder, limits, still)];
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

it('a quiet process goes on where a busy one has arrived, also after its own file was removed', () => {
  const { folder, contents } = logFolder();
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs };
  const [busy, quiet] = [openLogFiles(folder, limits, clock), openLogFiles(folder, limits, clock)];
  quiet.write('quiet 1\n');
  for (const line of ['busy line 1\n', 'busy line 2\n', 'busy line 3\n', 'b 4\n']) busy.write(line);
  nowMs += 1_000;
  quiet.write('quiet 2\n');
  expect(contents()).toEqual({
    'patchbay.3.ndjson': 'busy line 3\n',
    'patchbay.4.ndjson': 'b 4\nquiet 2\n',
  });
});

it('a file that is full is followed by the newest that is there', () => {
  const { folder, contents } = logFolder();
  const [busy, quiet] = [openLogFiles(folder, limits), openLogFiles(folder, limits)];
  quiet.write('quiet line 1\n');
  for (let count = 1; count <= 4; count += 1) busy.write(`busy line ${count}\n`);
  quiet.write('quiet line 2\n');
  expect(contents()['patchbay.4.ndjson']).toBe('busy line 4\nquiet line 2\n');
});

it('a file that a person removed is made anew', () => {
  const { folder, contents } = logFolder();
  let nowMs = 0;
  const files = openLogFiles(folder, limits, { monotonicMs: () => nowMs });
  files.write('first\n');
  rmSync(join(folder, 'patchbay.1.ndjson'));
  nowMs += 1_000;
  files.write('second\n');
  expect(contents()).toEqual({ 'patchbay.1.ndjson': 'second\n' });
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
