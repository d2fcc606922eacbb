import { describe, expect, test } from 'vitest';
import { classify, endCodes, type TransportEnd } from '#src/workspace/classify.ts';

const transportCodes = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ECONNRESET',
  'EPIPE',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
  'UND_ERR_INFO',
  'HPE_INVALID_CONSTANT',
  'SOMETHING_NEW',
  ...Object.values(endCodes),
];

const replied = (status: number, text = '{}'): TransportEnd => ({ phase: 'replied', status, text, retryAfter: '7' });

describe('classify', () => {
  test.each(transportCodes)('%s before the first byte is certainly not sent', (code) => {
    expect(classify({ phase: 'notSent', code, cause: undefined })).toMatchObject({ next: 'sendAgain', code });
  });

  test.each(transportCodes)('%s after the first byte is a doubt', (code) => {
    for (const status of [null, 200, 201, 400, 404, 429, 500]) {
      const verdict = classify({ phase: 'sent', code, status, cause: undefined });
      const reason = code === endCodes.replyTooLarge ? 'odd' : 'lost';
      expect(verdict).toMatchObject({ next: 'doubt', reason, status });
    }
  });

  test('every status has exactly one meaning', () => {
    const meaning = (status: number): string => {
      if (status >= 200 && status < 300) return 'use';
      if (status === 429) return 'waitForRate';
      if (status === 401 || status === 403) return 'checkKey';
      if (status === 408 || status === 425) return 'doubt failing';
      if (status >= 400 && status < 500) return 'giveUp';
      if (status >= 500 && status < 600) return 'doubt failing';
      return 'doubt odd';
    };
    for (let status = 200; status <= 999; status += 1) {
      const verdict = classify(replied(status));
      const found = verdict.next === 'doubt' ? `doubt ${verdict.reason}` : verdict.next;
      expect(`${status} ${found}`).toBe(`${status} ${meaning(status)}`);
    }
  });

  test.each(['', '<html></html>', '{"data":', '\u0000'])('2xx with the body %j is a doubt', (text) => {
    expect(classify(replied(201, text))).toMatchObject({ next: 'doubt', reason: 'odd', status: 201 });
  });

  test('the words of the service are kept, in the flat and in the wrapped shape, and never needed', () => {
    const flat = '{"message":"no","code":"0800409","title":"Conflict","errors":[{"path":["a",0],"message":"x"}]}';
    expect(classify(replied(409, flat))).toMatchObject({
      next: 'giveUp',
      body: { code: '0800409', title: 'Conflict', message: 'no', paths: ['a.0'] },
    });
    const wrapped = '{"error":{"message":"bad key","key":"0800401","trace":"t"}}';
    expect(classify(replied(401, wrapped))).toMatchObject({ next: 'checkKey', body: { code: '0800401', trace: 't' } });
    const withoutCode =
      '{"error":{"message":"Unauthorized","docs":"https://quo.com/docs","key":"Unauthorized","trace":"t"}}';
    expect(classify(replied(401, withoutCode))).toMatchObject({
      next: 'checkKey',
      body: { code: 'Unauthorized', message: 'Unauthorized', trace: 't' },
    });
    expect(classify(replied(400, '<html>'))).toMatchObject({ next: 'giveUp', body: { code: null, message: null } });
  });

  test('Retry-After goes along with 429 and 503', () => {
    expect(classify(replied(429))).toMatchObject({ next: 'waitForRate', retryAfter: '7' });
    expect(classify(replied(503))).toMatchObject({ next: 'doubt', retryAfter: '7' });
  });
});
