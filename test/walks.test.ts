/**
 * The walks: how many files a reader must open to follow one thing from end to end. The lists are data
 * (`support/walks.ts`); what keeps them honest is derived from the imports (`support/follow-walk.ts`).
 */
import { describe, expect, it } from 'vitest';
import { followWalk } from './support/follow-walk.ts';
import { walks } from './support/walks.ts';

describe.each(walks)('the walk of $what', (walk) => {
  const followed = followWalk(walk);

  it(`takes at most ${walk.filesMax} files`, () => {
    expect(new Set(walk.files).size).toBe(walk.files.length);
    expect(walk.files.length).toBeLessThanOrEqual(walk.filesMax);
  });

  it(`leaves at most ${walk.leavesMax} files on the way unopened`, () => {
    expect(Object.keys(walk.leaves).length).toBeLessThanOrEqual(walk.leavesMax);
  });

  it('names files that exist', () => {
    expect(followed.absent).toEqual([]);
  });

  it('is connected: each file is imported by one before it, or is the adapter of a port before it', () => {
    expect(followed.unconnected).toEqual([]);
  });

  it('lists what its files import, types included, or says why a reader need not open it', () => {
    expect(followed.unexplained).toEqual([]);
  });

  it('gives no reason for a file that is not imported, or that is listed', () => {
    expect(followed.needless).toEqual([]);
  });
});
