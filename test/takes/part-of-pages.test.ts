/** One page of several is announced in headers, too: the people of the others would look as if they had left. */
import { describe, expect, it } from 'vitest';
import { assertWhole } from '#src/takes/answer-head.ts';

const answers = (headers: Readonly<Record<string, string | readonly string[]>>) => () =>
  assertWhole('crm.example.com', {
    status: 200,
    header: (name) => [headers[name] ?? []].flat()[0] ?? null,
    headers: (name) => [headers[name] ?? []].flat(),
  });

describe('an answer is one page of several', () => {
  it.each([
    ['<https://crm.example.com/a?page=2>; rel="next", <https://crm.example.com/a?page=9>; rel="last"'],
    ['<https://crm.example.com/a,b?page=9>; rel="last", </a,b?page=2>; title="n"; rel=next'],
    ['</a?page=2>;rel="prefetch NEXT"'],
  ])('by Link: %s', (link) => {
    expect(answers({ link })).toThrow(
      'crm.example.com sends one page of several: its header Link points to the next one',
    );
    expect(answers({ link: ['</style.css>; rel=preload', link] })).toThrow(
      expect.objectContaining({ code: 'morePages' }),
    );
  });

  it.each(['items 0-99/900', '100-199/200', 'items=800-899/900', 'bytes 0-99/900'])('by Content-Range: %s', (range) => {
    expect(answers({ 'content-range': range })).toThrow(`its header Content-Range is ${range}`);
  });
});

it.each([
  {},
  { link: '<https://crm.example.com/a?page=1>; rel="prev", </>; rel="first"' },
  { link: '</next>; rel="canonical"; title="next"' },
  { 'content-range': 'items 0-899/900' },
  { 'content-range': 'items 1-100/100' },
  { link: '<https://files.example.com/crm?cursor=end>; rel="next"; results="false"' },
  { 'content-range': 'items 0-900/900' },
  { 'content-range': 'items 0-99/*' },
  { 'content-range': 'items */0' },
  { 'x-total-count': '900' },
])('an answer is the whole with the headers %j', (headers) => {
  expect(answers(headers)).not.toThrow();
});
