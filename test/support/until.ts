/** Waiting for what other processes do: asks again and again until the answer is there, never for a fixed time. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Far above what anything here takes on a slow machine: it only ends a test that would hang. */
export const patienceMs = 60_000;
const pollMs = 5;

/**
 * Resolves with the first answer of `probe` that is neither null, undefined nor false.
 * @param what is waited for; a function can also say what was seen last.
 * @throws Error that says what was waited for, when patience is over; what `probe` throws.
 */
export async function until<Answer>(
  what: string | (() => string),
  probe: () => Promise<Answer | null | undefined | false> | Answer | null | undefined | false,
): Promise<Answer> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const answer = await probe();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadlineMs)
      throw new Error(`waited in vain for: ${typeof what === 'string' ? what : what()}`);
    await sleep(pollMs);
  }
}
