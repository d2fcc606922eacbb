import { describe, expect, it } from 'vitest';
import { requirePath } from '#src/operations/import.ts';

const errorOf = (work: () => void): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe('an address where a file is read', () => {
  it('is called one, with a command that can be pasted, and with what takes it again and again', () => {
    const address = 'https://example.com/x.csv?a=1&b=2';
    const hint = (first: string): string =>
      `${first}\nA feed takes it again and again: set take: to the address in the configuration (docs/operations.md, "Feeds").`;
    expect(errorOf(() => requirePath(address, 'import'))).toMatchObject({
      ...{ kind: 'file', code: 'addressNotTaken', message: `${address} is an address: import reads files` },
      hint: hint(`For once: curl -fsSL '${address}' | patchbay import -`),
    });
    expect(errorOf(() => requirePath(address, 'map'))).toMatchObject({
      hint: hint(`Download it, and name the file: curl -fsSLO '${address}'`),
    });
  });

  it('is no path that looks like one', () => {
    for (const path of ['https.csv', './https/x.csv', '/exports/http', '-'])
      expect(() => requirePath(path, 'plan'), path).not.toThrow();
  });
});
