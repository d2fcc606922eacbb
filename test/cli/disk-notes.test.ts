/** Work that stands still for want of a disk says so: the ledger cannot keep what its job ended with. */
import { describe, expect, it } from 'vitest';
import { diskNotes, waitingNotes } from '#src/cli/waiting.ts';
import { manualClock } from '#test/service/test-service.ts';

const full = (kilobytes: number) => ({
  code: 'diskFull',
  message: `the disk of /data is full (${kilobytes} kB free)`,
});

function open(ask: () => Promise<{ readonly code: string; readonly message: string } | null>) {
  const clock = manualClock();
  const told: string[] = [];
  let askedCount = 0;
  const counted = () => {
    askedCount += 1;
    return ask();
  };
  const onStill = diskNotes(
    clock,
    counted,
    waitingNotes((text) => void told.push(text), 600_000),
  );
  const still = async (seconds: number): Promise<void> => {
    for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
      clock.advance(100);
      onStill();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { still, told, askedCount: () => askedCount };
}

describe('Work that stands still', () => {
  it('says once that the disk is full, however much of it is free from look to look', async () => {
    let kilobytes = 0;
    const { still, told, askedCount } = open(async () => {
      kilobytes += 1;
      return full(kilobytes);
    });
    await still(20);
    expect(told).toEqual(['waiting for up to 10m (--wait): the disk of /data is full (1 kB free) [diskFull]']);
    expect(askedCount()).toBe(10);
  });

  it('says nothing of other causes, which have words of their own, nor where nobody can say', async () => {
    for (const ask of [
      async () => ({ code: 'queueAway', message: 'the queue cannot be reached' }),
      async () => null,
      async () => Promise.reject(new Error('closed')),
    ]) {
      const { still, told } = open(ask);
      await still(6);
      expect(told).toEqual([]);
    }
  });
});
