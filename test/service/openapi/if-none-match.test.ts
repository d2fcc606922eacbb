/** A description that the client has is not sent again (RFC 9110, 13.1.2). */
import { expect, test } from 'vitest';
import { startTestService } from '../test-service.ts';

test('a strong or weak tag, a list with it, and a star are 304; anything else gets the description', async () => {
  const { origin } = await startTestService();
  const etag = (await fetch(`${origin}/openapi.json`)).headers.get('etag') ?? '';
  const statusOf = async (ifNoneMatch: string) => {
    const answer = await fetch(`${origin}/openapi.json`, { headers: { 'if-none-match': ifNoneMatch } });
    expect((await answer.text()) === '').toBe(answer.status === 304);
    return answer.status;
  };
  for (const known of [etag, `W/${etag}`, `"a", ${etag}, W/"b"`, `"a",,W/${etag}`, '*', ' * ']) {
    expect(await statusOf(known), known).toBe(304);
  }
  for (const other of ['"a"', etag.slice(1, -1), '', '"', `W/"a", "b"`, '"*"']) {
    expect(await statusOf(other), other).toBe(200);
  }
});
