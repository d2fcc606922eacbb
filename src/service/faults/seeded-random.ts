/**
 * A small generator of random numbers that repeats: the same seed gives the same numbers.
 *
 * A counter run through a 32-bit mixing function: each step adds an odd constant, so that all 2^32 states are visited,
 * and the mixing spreads every bit over the whole word. Good for faults, not for secrets.
 */
const step = 0x9e3779b9;

/** Answers numbers from 0 (included) to 1 (excluded). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + step) >>> 0;
    let word = state;
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return ((word ^ (word >>> 15)) >>> 0) / 2 ** 32;
  };
}
