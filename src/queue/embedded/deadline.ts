/** Waiting with an end. */

/** What `within` gives when the time is over. */
export const timedOut: unique symbol = Symbol('timed out');

/** The promise's value, or `timedOut` after `timeoutMs`; the promise itself goes on. Rejects as the promise does. */
export async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T | typeof timedOut> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof timedOut>((done) => {
    timer = setTimeout(() => done(timedOut), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
