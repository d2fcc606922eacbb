/** Output: data on stdout, everything else on stderr (`docs/contract.md`, "Commands"). */
import { describe, expect, it } from 'vitest';
import { createOutput, printable } from '#src/cli/output.ts';
import { captureOutput } from './support/captured-output.ts';

describe('output', () => {
  it('puts data on stdout and notes on stderr', () => {
    const captured = captureOutput();
    const output = createOutput({ color: false });
    output.document({ a: 'b\nc' });
    output.line('data');
    output.note('by the way');
    expect(captured.stdout()).toBe('{"a":"b\\nc"}\ndata\n');
    expect(captured.stderr()).toBe('by the way\n');
  });

  it('a JSON document steers no terminal, and says what it said', () => {
    const captured = captureOutput();
    const value = { name: '\u001b[2J\u009b31m\u202eAnn\u007f' };
    createOutput({}).document(value);
    expect(captured.stdout()).toMatch(/^[ -~]+\n$/);
    expect(JSON.parse(captured.stdout())).toEqual(value);
  });

  it('gives commands in the hints of a JSON document the flags that they have in text, once', () => {
    const options = { data: '/srv/my data', sandbox: true };
    const output = createOutput(options);
    const hint = 'Approve it: patchbay runs approve r1 --sandbox\nOr: patchbay runs cancel r1';
    const reason = { code: 'guardUpdates', message: 'patchbay runs approve r1', hint };
    const captured = captureOutput();
    output.document({ reason, again: { ...reason, hint: output.paste(hint) }, row: { hint } });
    const told = JSON.parse(captured.stdout());
    expect(told.reason).toEqual({ ...reason, hint: output.paste(hint) });
    expect(told.reason.hint).toContain(`patchbay --data '/srv/my data' runs cancel --sandbox r1`);
    expect(told.again).toEqual(told.reason);
    expect(told.row).toEqual({ hint });
  });

  it('leaves notes out where somebody wants quiet', () => {
    const captured = captureOutput();
    createOutput({ quiet: true }).note('by the way');
    expect(captured.stderr()).toBe('');
  });

  it('colours nothing with --no-color', () => {
    expect(createOutput({ color: false }).style('red', 'x')).toBe('x');
  });

  it('says by its options whether values may be printed', () => {
    expect(createOutput({}).values).toBe(true);
    expect(createOutput({ values: false }).values).toBe(false);
  });

  it('puts a table in columns, also of wide letters, however many rows it has', () => {
    const { table } = createOutput({ color: false });
    expect(
      table(
        ['name', 'key'],
        [
          ['日本', 'k1'],
          ['Ann', ''],
          ['É', 'k3'],
        ],
      ),
    ).toBe('name  key\n日本  k1\nAnn\nÉ     k3');
    const lines = table(
      ['line', 'code'],
      Array.from({ length: 200_000 }, (_, line) => [`${line}`, 'odd']),
    ).split('\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([200_001, 'line    code', '199999  odd']);
  });

  it('makes every cell of a table printable', () => {
    const table = createOutput({ color: false }).table(['name'], [['\u001b[31mred\u0007']]);
    expect(table).not.toMatch(/\u001b|\u0007/);
    expect(table).toContain('red');
  });
});

describe('printable text', () => {
  it('holds no control characters: line breaks and tabs are spaces, others are marked', () => {
    expect(printable('a\nb\tc')).toBe('a b c');
    for (let code = 0; code < 0xa0; code += 1) {
      if (code >= 0x20 && code < 0x7f) continue;
      expect(printable(String.fromCharCode(code)), `U+${code.toString(16)}`).toMatch(/^[ \ufffd]$/);
    }
  });

  it('holds nothing that turns the direction of what follows', () => {
    expect(printable('\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069')).toBe('\ufffd'.repeat(9));
  });

  it('keeps letters of every script and emoji', () => {
    const text = 'Jürgen Łukasz 山田太郎 😀 👩‍💻 عمر';
    expect(printable(text)).toBe(text);
  });
});
