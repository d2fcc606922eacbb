/** Logs carry run, line, key hash and code, and nothing of people or keys (`rules.md`, "Secrets and personal data"). */
import { describe, expect, it } from 'vitest';
import { createLogger, keyHash, redactedFields, silentLogger } from '#src/log.ts';

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
