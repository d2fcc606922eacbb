/** Logs carry run, line, key hash and code, and nothing of people or keys (`docs/rules.md`, "Secrets and personal data"). */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  createLogger,
  fileTag,
  inLogContext,
  keyHash,
  outsideLogContext,
  redactedFields,
  silentLogger,
} from '#src/log.ts';

function collect(level = 'trace') {
  const lines: string[] = [];
  const log = createLogger({ level, stream: { write: (line: string) => void lines.push(line) } });
  return { log, lines };
}

describe('a log line', () => {
  it.each(redactedFields.filter((field) => !field.includes('.')))(
    'never holds what a careless caller passes as %s',
    (field) => {
      const { log, lines } = collect();
      log.info({ run: 'r1', line: 7, [field]: 'canary-4155550199' }, 'row refused');
      expect(lines.join('')).not.toContain('canary');
      expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ level: 'info', run: 'r1', line: 7, msg: 'row refused' });
    },
  );

  it('never holds an authorization header', () => {
    const { log, lines } = collect();
    log.info({ headers: { authorization: 'canary', accept: 'application/json' } }, 'request');
    expect(lines.join('')).not.toContain('canary');
  });

  it('has the level as a word, the time in ISO 8601, and neither host nor process', () => {
    const { log, lines } = collect();
    log.warn({}, 'x');
    const line = JSON.parse(lines[0] ?? '{}');
    expect(Object.keys(line).sort()).toEqual(['level', 'msg', 'time']);
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('carries the name of the installation, where it has one', () => {
    const lines: string[] = [];
    const stream = { write: (line: string) => void lines.push(line) };
    const log = createLogger({ level: 'info', installation: 'berlin', stream });
    log.info({ run: 'r1' }, 'x');
    log.child({ part: 'service' }).info({}, 'y');
    expect(lines.map((line) => JSON.parse(line).installation)).toEqual(['berlin', 'berlin']);
  });

  it('names a key by a short hash that is the same every time and tells nothing of the key', () => {
    expect(keyHash('crm-1')).toMatch(/^[0-9a-f]{12}$/);
    expect(keyHash('crm-1')).toBe(keyHash('crm-1'));
    expect(keyHash('crm-1')).not.toBe(keyHash('crm-2'));
  });

  it('is not written below the level, nor by a silent logger', () => {
    const { log, lines } = collect('warn');
    log.info({}, 'x');
    expect(lines).toEqual([]);
    expect(silentLogger().level).toBe('silent');
  });
});

describe('the context of log lines', () => {
  const parsed = (lines: readonly string[]) => lines.map((line) => JSON.parse(line));

  it('is carried by every line of the work, whoever writes it, and by none of other work', async () => {
    const { log, lines } = collect();
    const child = log.child({ part: 'p' });
    const work = async (): Promise<void> => {
      await sleep(1);
      child.info('begun');
      await inLogContext({ line: 7 }, async () => {
        await sleep(1);
        log.warn({ code: 'c' }, 'row');
      });
      log.info('ended');
    };
    await Promise.all(['r1', 'r2'].map((run) => inLogContext({ run, feed: 'crm', batch: 2 }, () => work())));
    log.info('outside');
    for (const run of ['r1', 'r2']) {
      const of = parsed(lines).filter((line) => line.run === run);
      expect(of).toMatchObject([
        { part: 'p', feed: 'crm', batch: 2, msg: 'begun' },
        { feed: 'crm', batch: 2, line: 7, code: 'c', msg: 'row' },
        { feed: 'crm', batch: 2, msg: 'ended' },
      ]);
      expect([of[0].line, of[2].line]).toEqual([undefined, undefined]);
    }
    expect(Object.keys(parsed(lines).at(-1)).sort()).toEqual(['level', 'msg', 'time']);
  });

  it('gives way to what a line says itself, and stays behind where the work is for all', () => {
    const { log, lines } = collect();
    inLogContext({ run: 'r1', tick: 't1' }, () => {
      log.info({ run: 'r2' }, 'x');
      log.info('y');
      outsideLogContext(() => log.info('z'));
    });
    const [x, y, z] = parsed(lines);
    expect([x.run, x.tick, y.run, z.run]).toEqual(['r2', 't1', 'r1', undefined]);
  });

  it('hands each of its lines to whoever listens, as written, from its level on', () => {
    const { log, lines } = collect('info');
    const heard: string[] = [];
    inLogContext(
      { run: 'r1' },
      () => {
        log.debug('too detailed');
        inLogContext({ line: 3 }, () => log.info('x'));
      },
      (line) => heard.push(line),
    );
    log.info('outside');
    expect(heard).toEqual([lines[0]?.trimEnd()]);
  });
});

describe('what errors say', () => {
  it.each([
    ['a file name', "ENOENT: no such file or directory, open '/data/import/Quill Marrow.csv'", 'ENOENT: no such file'],
    ['what a parser met', 'Unexpected token \'Q\', "Quill Marrow" is not valid JSON', 'is not valid JSON'],
    ['an address', 'refused: quill.marrow@example.com is taken', 'is taken'],
    ['a number', 'cannot send to +1 415 555 0123 (or 415-555-0123, 4155550123)', 'cannot send to'],
    ['an unlimited text', `at first ${'long '.repeat(10_000)}`, 'at first'],
  ])('is logged without %s', (_what, message, kept) => {
    const { log, lines } = collect();
    log.warn({ reason: message }, 'x');
    log.error({ err: new TypeError(message) }, 'x');
    expect(lines.join('')).not.toMatch(/quill|marrow|0123/i);
    expect(lines.join('').length).toBeLessThan(1_000);
    for (const line of lines) expect(line).toContain(kept);
  });

  it('keeps what an operator needs: the address of a server, and a word with an apostrophe', () => {
    const { log, lines } = collect();
    log.warn({ reason: "connect ECONNREFUSED 127.0.0.1:6379, the engine's queue can't be reached" }, 'x');
    expect(JSON.parse(lines[0] ?? '').reason).toBe(
      "connect ECONNREFUSED 127.0.0.1:6379, the engine's queue can't be reached",
    );
  });

  it('leaves a file by a hash of its name, since a file may be named after a person', () => {
    expect(fileTag('Quill Marrow.CSV')).toMatch(/^[0-9a-f]{12}\.csv$/);
    expect(fileTag('x.Quill Marrow')).toMatch(/^[0-9a-f]{12}$/);
    expect(fileTag('a.csv')).not.toBe(fileTag('b.csv'));
  });
});
