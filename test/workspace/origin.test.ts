import { describe, expect, test } from 'vitest';
import { parseOrigin } from '#src/workspace/origin.ts';

describe("the service's address", () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['http://127.0.0.1:4010', 'http://127.0.0.1:4010'],
    ['http://[::1]:4010', 'http://[::1]:4010'],
  ])('%s is taken', (baseUrl, origin) => {
    expect(parseOrigin(baseUrl)).toBe(origin);
  });

  test.each([
    'api.example.com',
    '',
    'ftp://api.example.com',
    'https://api.example.com/v1',
    'https://api.example.com/?key=1',
    'https://api.example.com/#top',
    'https://user:secretpass@api.example.com',
    'not a url user:secretpass@host',
  ])('%j is refused, and nothing that may be a password is repeated', (baseUrl) => {
    const refused = (() => {
      try {
        return parseOrigin(baseUrl);
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toMatchObject({ kind: 'usage', code: 'baseUrlInvalid' });
    expect(String(refused)).not.toContain('secretpass');
  });
});
