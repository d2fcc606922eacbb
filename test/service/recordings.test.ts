/** Get call recordings (4.5; section 9, 1.0.2; `docs/facts.md`, "Calls, recordings, messages"). */
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '#src/service/store/open-store.ts';
import { recordingReply } from '#src/service/stored-records.ts';
import { type ActiveService, listing, startActiveService } from './activity.ts';

interface CallReply {
  readonly id: string;
  readonly answeredAt: string | null;
}
interface RecordingReply {
  readonly url: string;
  readonly startTime: string;
}

async function allCalls(service: ActiveService): Promise<CallReply[]> {
  const lists = await Promise.all(
    [service.ownerId, service.secondId].map(async (userId) => {
      const { phoneNumber, person: participants } = service;
      const path = listing('/v1/calls', { phoneNumberId: phoneNumber.id, participants, userId });
      return (await service.call('GET', path)).body.data;
    }),
  );
  return lists.flat();
}

const recordingsOf = (service: ActiveService, callId: string) => service.call('GET', `/v1/call-recordings/${callId}`);

test('a call has its recordings, the oldest first; one without any has an empty list', async () => {
  const service = await startActiveService();
  const counts = new Set<number>();
  for (const call of await allCalls(service)) {
    const { status, body } = await recordingsOf(service, call.id);
    expect([status, Object.keys(body)]).toEqual([200, ['data']]);
    const recordings: RecordingReply[] = body.data;
    counts.add(recordings.length);
    const starts = recordings.map((one) => one.startTime);
    expect(starts).toEqual(starts.toSorted());
    for (const one of recordings) {
      expect(recordingReply.strict().safeParse(one).error).toBeUndefined();
      expect(one.url).toMatch(/^https:\/\/example\.com\/invented-recordings\//);
      expect(Date.parse(one.startTime)).toBeGreaterThanOrEqual(Date.parse(call.answeredAt ?? ''));
    }
  }
  expect([...counts].toSorted()).toEqual([0, 1, 2]);
});

test('an id that does not begin with AC is 400, one that no call has is 404', async () => {
  const service = await startActiveService();
  const malformed = await recordingsOf(service, 'CR1');
  expect([malformed.status, malformed.body.code, malformed.body.errors[0].path]).toEqual([400, '0900400', 'callId']);
  const absent = await recordingsOf(service, 'ACabsent');
  expect([absent.status, absent.body.code]).toEqual([404, '0900404']);
  expect(absent.body.message).toContain('ACabsent');
});

test('faults and counts know it as recordings', async () => {
  const service = await startActiveService({ faults: ['recordings:status=503'] });
  const answer = await recordingsOf(service, 'ACabsent');
  expect([answer.status, answer.body.code]).toEqual([503, '0900503']);
  expect(service.counts()).toMatchObject({ recordings: 1 });
});

test('recordings that were stored in another order are listed by their start', () => {
  const store = openStore(':memory:', () => 'US1');
  onTestFinished(() => store.close());
  const recording = { callId: 'AC1', duration: 1, status: 'completed', type: 'audio/mpeg', url: null } as const;
  store.recordings.insert({ ...recording, id: 'none', startTime: null });
  store.recordings.insert({ ...recording, id: 'late', startTime: '2026-11-21T10:00:00+02:00' });
  store.recordings.insert({ ...recording, id: 'early', startTime: '2026-11-21T07:59:59Z' });
  expect(store.recordings.ofCall('AC1').map((one) => one.id)).toEqual(['early', 'late', 'none']);
});
