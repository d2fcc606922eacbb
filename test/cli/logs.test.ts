/** `patchbay logs`: the lines of one run or feed, the important ones, over rolled files, and those that come. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { logs, prettyLine } from '#src/cli/commands/logs.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { type LogFilter, lastLogLines, nextLogLines, wantsLine } from '#src/operations/logs.ts';
import { newRun } from '#test/contracts/support/build.ts';
import { captureOutput } from './support/captured-output.ts';

const minute = (number: number): string => new Date(Date.UTC(2026, 10, 22, 3, number)).toISOString();

function line(time: string, fields: Readonly<Record<string, unknown>> = {}, level = 'info'): string {
  return JSON.stringify({ level, time, ...fields });
}

const text = (lines: readonly string[]): string => lines.map((one) => `${one}\n`).join('');

/** A data folder of the sandbox, and how to write a log file of it; `changedAt` is when it was written last. */
function dataFolder() {
  const data = mkdtempSync(join(tmpdir(), 'pb-logs-'));
  const folder = join(data, 'sandbox', 'logs');
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const path = (number: number): string => join(folder, `patchbay.${number}.ndjson`);
  const write = (number: number, content: string, changedAt?: string): void => {
    writeFileSync(path(number), content);
    if (changedAt !== undefined) utimesSync(path(number), new Date(changedAt), new Date(changedAt));
  };
  return { data, folder, path, write };
}

const nothingAsked: LogFilter = { run: null, feed: null, level: null };
const all = wantsLine(nothingAsked);

describe('the last lines', () => {
  it('are those that fit, counted over rolled files, oldest first', async () => {
    const { folder, write } = dataFolder();
    write(9, text([line(minute(1), { run: 'r1', msg: 'a' }), line(minute(2), { run: 'r2', msg: 'b' })]), minute(2));
    write(10, text([line(minute(3), { run: 'r1', msg: 'c' }), line(minute(4), { run: 'r2', msg: 'd' })]), minute(4));
    write(11, text([line(minute(5), { run: 'r2', msg: 'e' }), line(minute(6), { run: 'r1', msg: 'f' })]), minute(6));
    const ofRun = wantsLine({ ...nothingAsked, run: 'r1' });
    const messages = async (count: number) =>
      (await lastLogLines(folder, ofRun, count)).lines.map((one) => JSON.parse(one).msg).join('');
    expect([await messages(50), await messages(3), await messages(2), await messages(1), await messages(0)]).toEqual([
      ...['acf', 'acf', 'cf', 'f', ''],
    ]);
  });

  it('are in order although another process still writes into a file behind the newest one', async () => {
    const { folder, write } = dataFolder();
    write(1, text([line(minute(1)), line(minute(4))]), minute(4));
    write(2, text([line(minute(2)), line(minute(3))]), minute(3));
    const { lines } = await lastLogLines(folder, all, 2);
    expect(lines.map((one) => JSON.parse(one).time)).toEqual([minute(3), minute(4)]);
  });

  it('leave out a line that is on its way; it comes whole and once', async () => {
    const { folder, path, write } = dataFolder();
    const cut = line(minute(2), { msg: 'née' });
    write(1, text([line(minute(1))]) + cut.slice(0, 20));
    const last = await lastLogLines(folder, all, 50);
    expect(last.lines).toEqual([line(minute(1))]);
    appendFileSync(path(1), cut.slice(20));
    const early = await nextLogLines(folder, last.position);
    expect(early.lines).toEqual([]);
    appendFileSync(path(1), '\n');
    const next = await nextLogLines(folder, early.position);
    expect(next.lines).toEqual([cut]);
    expect((await nextLogLines(folder, next.position)).lines).toEqual([]);
  });

  it('are none where no folder is, and an error where it cannot be read', async () => {
    const { folder, path, write } = dataFolder();
    expect((await lastLogLines(join(folder, 'none'), all, 50)).lines).toEqual([]);
    write(1, 'a file stands in the place of the folder');
    const error = { code: 'logsUnreadable', kind: 'usage', message: `${path(1)} cannot be read (ENOTDIR)` };
    await expect(lastLogLines(path(1), all, 50)).rejects.toMatchObject(error);
    await expect(nextLogLines(path(1), new Map())).rejects.toMatchObject(error);
  });

  it('that come are found in new files as well, in order, though old files go', async () => {
    const { folder, path, write } = dataFolder();
    for (const number of [1, 2]) write(number, text([line(minute(number))]));
    const { position } = await lastLogLines(folder, all, 50);
    rmSync(path(1));
    appendFileSync(path(2), text([line(minute(4))]));
    write(3, text([line(minute(3)), line(minute(5))]));
    const { lines } = await nextLogLines(folder, position);
    expect(lines.map((one) => JSON.parse(one).time)).toEqual([minute(3), minute(4), minute(5)]);
  });
});

describe('a line', () => {
  it('is wanted by run, feed and level alone, not by what else it says', () => {
    const wants = (filter: Partial<LogFilter>, one: string) => wantsLine({ ...nothingAsked, ...filter })(one);
    const of = line(minute(1), { run: 'r1', feed: 'crm' }, 'warn');
    expect(wants({ run: 'r1', feed: 'crm', level: 'warn' }, of)).toBe(true);
    expect(wants({ level: 'error' }, of)).toBe(false);
    expect(wants({ feed: 'main' }, of)).toBe(false);
    expect(wants({ run: 'r1' }, line(minute(1), { by: 'r1' }))).toBe(false);
    expect(wants({}, '{"level":"in')).toBe(true);
    expect(wants({ level: 'trace' }, '{"level":"in')).toBe(false);
  });

  it('reads as time, level, run, feed, line and message, and what else it says', () => {
    const plain = { style: (_style: unknown, words: string) => words };
    const of = line(
      minute(1),
      { run: 'r1', feed: 'crm', batch: 2, line: 17, code: 'c', why: 'a b', msg: 'row' },
      'warn',
    );
    expect(prettyLine(of, plain).replace(/^\S+ \S+/, 'TIME')).toBe(
      'TIME  WARN   r1 crm batch 2 line 17  row  code=c why="a b"',
    );
    expect(prettyLine('{"level":"in\u001b[31m', plain)).not.toContain('\u001b');
  });
});

describe('logs', () => {
  it('shows the lines of a run by the end of its id, and says so where there is none', async () => {
    const { data, write } = dataFolder();
    const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
    for (const id of ['run-0001-aaaa', 'run-0002-bbbb']) await ledger.runs.create(newRun(id, { sha256: id }));
    await ledger.close();
    const wanted = line(minute(1), { run: 'run-0001-aaaa', msg: 'x' });
    write(1, text([wanted, line(minute(2), { run: 'other' })]));
    const captured = captureOutput();
    const options = { data, sandbox: true, lines: 50 };
    expect(await logs({ ...options, json: true, run: '-aaaa' })).toBe(0);
    expect(captured.stdout()).toBe(`${wanted}\n`);
    expect(captured.stderr()).toBe('');
    expect(await logs({ ...options, run: 'run-0002-bbbb', level: 'debug' })).toBe(0);
    expect(captured.stderr()).toContain('no log line of run run-0002-bbbb, level debug or above');
    expect(captured.stderr()).toContain('LOG_LEVEL');
    await expect(logs({ ...options, run: 'nobody' })).rejects.toMatchObject({ code: 'noSuchRun' });
  });

  it('shows the lines of a feed however its letters are typed', async () => {
    const { data, write } = dataFolder();
    const wanted = line(minute(1), { feed: 'Müller', msg: 'x' });
    write(1, text([wanted, line(minute(2), { feed: 'crm' })]));
    const captured = captureOutput();
    expect(await logs({ data, sandbox: true, lines: 50, json: true, feed: 'Müller'.normalize('NFD') })).toBe(0);
    expect(captured.stdout()).toBe(`${wanted}\n`);
  });
});
