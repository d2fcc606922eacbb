import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';
import { redisText } from '#test/support/redis-text.ts';
import { until } from '#test/support/until.ts';

const keyCanary = 'canary-key-5f1c77a0';
/** In every spelling that the file has. */
const phoneCanary = /555.?0177/;
/** A file may be named after a person. */
const nameCanary = 'Wrenfield';

/** One row that arrives, one that the service may refuse, three that are dead before they are sent, one with a warning. */
const rows = [
  'c-001,Given,Copperline,+14155550177',
  'c-002,Given,Copperline,+1 415 555 0177',
  'c-003,Given,Copperline,415 555-0177',
  'c-004,Given,Copperline,+14155550177 or call back',
  'c-005,,,+14155550177',
  'c-006,Given,Copperline,+14155550177 x12',
];

describe('secrets and personal data', () => {
  test('an API key and a phone number are in no log, nor on stderr, nor in Redis', async ({ journey }) => {
    const service = await journey.service(['create:latency=50ms', 'create:status=400:10%'], keyCanary);
    const worker = journey.start(['start', '--json'], { LOG_LEVEL: 'trace', PATCHBAY_UPSERT_ROWS_PER_BATCH: '5' });
    await worker.firstLine();
    const redis = journey.queue();
    await redis.config('SET', 'rdbcompression', 'no');
    const seen: string[] = [];
    const look = async () => {
      seen.push(await redisText(redis));
    };

    const file = journey.file(`${nameCanary}.csv`, peopleCsv(40, { more: rows }));
    const follower = journey.start(['import', '--json', '--verbose', file]);
    await service.creates(1);
    const ended = await until('the end of the import', async () => {
      await look();
      return !follower.running && follower.ended();
    });
    const [document] = ended.documents;
    expect(ended.code, ended.stderr).toBe(3);
    expect(document.dead).toBeGreaterThanOrEqual(3);
    // The dead letters stand in the queue's view of them, with their reasons.
    await until('the dead letters in the queue', async () => {
      await look();
      return seen.at(-1)?.includes('invalid: ');
    });
    await redis.call('SAVE');
    const saved = readFileSync(join(journey.data, 'queue', 'dump.rdb'), 'latin1');
    worker.signal('SIGINT');
    const stopped = await worker.ended();
    expect(stopped.code).toBe(130);

    const logs = textsIn(join(journey.data, 'logs'));
    const places = {
      logs: logs.join('\n'),
      stderr: `${ended.stderr}\n${stopped.stderr}`,
      queue: seen.join('\n'),
      savedQueue: saved,
      queueLog: readFileSync(join(journey.data, 'queue', 'valkey.log'), 'latin1'),
    };
    for (const [place, text] of Object.entries(places)) {
      expect(text.includes(keyCanary), `the key in ${place}`).toBe(false);
      expect(phoneCanary.exec(text)?.[0] ?? null, `the phone in ${place}`).toBe(null);
    }
    const { stderr, ...unread } = places;
    for (const [place, text] of Object.entries(unread)) {
      expect(text.includes(nameCanary), `the file's name in ${place}`).toBe(false);
    }
    const ofRun = linesOf(places.logs).filter((line) => line.run === document.run);
    expect(ofRun.map((line) => line.msg)).toEqual(expect.arrayContaining(['run staged', 'job done', 'run finished']));
    expect(ofRun.every((line) => line.feed === 'main')).toBe(true);
    expect(ofRun.filter((line) => line.job === 'upsert-batch').every((line) => line.batch > 0)).toBe(true);
    // People see the same lines in the queue's job logs.
    expect(places.queue).toMatch(/:logs\n.*run staged/);
    // The search would have found them: what should be there is found.
    expect(places.logs).toContain(document.run);
    expect(places.queue).toContain(document.run);
    expect(places.savedQueue).toContain('dead-letters');
    expect(readFileSync(document.fixFile, 'utf8')).toMatch(phoneCanary);

    const everything = textsIn(journey.data);
    expect(everything.some((text) => text.includes(document.run))).toBe(true);
    expect(
      everything.some((text) => text.includes(keyCanary)),
      'the key in any file of the data folder',
    ).toBe(false);
    expect(ended.stdout + stopped.stdout).not.toContain(keyCanary);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: literal JSON, whose shape is what the test is about
function linesOf(text: string): readonly any[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The bytes of all files in a folder and below. */
function textsIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
}
