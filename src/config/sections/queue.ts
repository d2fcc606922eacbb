/** Settings of the queue, which distributes work and holds no truth (`design.md`, decision 1). */
import { z } from 'zod';
import { checkedText, duration, wholeNumber } from '../forms.ts';
import { settingTraits } from '../traits.ts';

const expectedUrl = 'a URL such as redis://localhost:6379 or rediss://user:password@host:6380/0';

export const queueSection = z
  .strictObject({
    redisUrl: checkedText(expectedUrl, redisUrlProblem)
      .nullable()
      .default(null)
      .describe('The Redis or Valkey server of the queue; null means the embedded one.')
      .register(settingTraits, { env: 'REDIS_URL', secret: 'password' }),
    stopDeadline: duration('1s', '10m')
      .prefault('20s')
      .describe('How long a stopping process waits for the requests in flight.'),
    jobsMax: wholeNumber(1, 10_000)
      .default(200)
      .describe('Batch jobs that wait in the queue at once; the ledger holds the others.'),
  })
  .describe('The queue that hands batches to workers.');

/** A query is refused since it may hold a password that would not be masked. */
function redisUrlProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^rediss?:\/\//i.test(text) || url.hostname === '') return expectedUrl;
  if (url.search !== '' || url.hash !== '') return `${expectedUrl}, without anything behind a ? or #`;
  return /^\/?\d{0,5}$/.test(url.pathname) ? null : `${expectedUrl}, where the path is the number of a database`;
}
