/** Breakers: what opens them, and what says nothing (`docs/rules.md`, "Retries, rate, outages"). */
import { describe, expect, it, test } from 'vitest';
import { contactEnvelope, type UpdateContactBody } from '#src/wire/contact.ts';
import {
  type BreakerKind,
  type BreakerState,
  classify,
  closedBreaker,
  createBreakers,
  endCodes,
  failuresInARowMax,
  fitToSchema,
  type OpenedBreaker,
  type Sign,
  signOf,
  stepBreaker,
  type TransportEnd,
} from '#src/workspace/classify.ts';
import { adaJson } from './support/contact-json.ts';
import { reply, reset } from './support/scripted-server.ts';
import { openTestWorkspace } from './support/test-workspace.ts';

const replied = (status: number, text = '{}'): TransportEnd => ({ phase: 'replied', status, text, retryAfter: null });
const notSent = (code: string): TransportEnd => ({ phase: 'notSent', code, cause: null });
const sent = (code: string): TransportEnd => ({ phase: 'sent', code, status: null, cause: null });
const signOfEnd = (end: TransportEnd): Sign => signOf(end, classify(end));
const failure = { code: 'serviceFailing', why: 'status 503', status: 503 } as const;
const limited = { code: 'rateLimited', why: 'status 429, too many requests', status: 429 } as const;

describe('one end', () => {
  it.each([200, 201, 400, 404, 409, 422])('with status %s is an answer', (status) => {
    expect(signOfEnd(replied(status))).toBe('answer');
  });

  it.each([
    ['a refused key', replied(401)],
    ['a forbidden contact', replied(403)],
    ['a caller who gave up before the request was sent', notSent(endCodes.aborted)],
    ['a caller who gave up waiting for a reply', sent(endCodes.aborted)],
    ['a client that was closed', notSent('UND_ERR_CLOSED')],
  ])('says nothing about the service: %s', (_name, end) => {
    expect(signOfEnd(end)).toBe('neither');
  });

  it.each([
    ['a refused connection', notSent('ECONNREFUSED'), 'serviceUnreachable'],
    ['an unknown host', notSent('ENOTFOUND'), 'serviceUnreachable'],
    ['no connection in time', notSent('UND_ERR_CONNECT_TIMEOUT'), 'serviceUnreachable'],
    ['a connection that took too long', notSent(endCodes.startedTooLate), 'serviceUnreachable'],
    ['a reset', sent('ECONNRESET'), 'serviceUnreachable'],
    ['no reply in time', sent('UND_ERR_HEADERS_TIMEOUT'), 'serviceUnreachable'],
    ['status 500', replied(500), 'serviceFailing'],
    ['status 503', replied(503), 'serviceFailing'],
    ['status 408', replied(408), 'serviceFailing'],
    ['a limited rate', replied(429), 'rateLimited'],
    ['a web page', replied(200, '<html>'), 'serviceAnswersOddly'],
    ['a redirect', replied(302), 'serviceAnswersOddly'],
  ])('is a failure: %s', (_name, end, code) => {
    expect(signOfEnd(end)).toMatchObject({ code });
  });

  it('is a failure where the reply has another shape than the interface says', () => {
    const end = replied(200, '{"data":{}}');
    expect(signOf(end, fitToSchema(classify(end), contactEnvelope))).toMatchObject({ code: 'serviceAnswersOddly' });
  });
});

describe('a breaker', () => {
  const stateAfter = (signs: readonly Sign[]): { state: BreakerState; openedAt: number[] } => {
    let state = closedBreaker;
    const openedAt: number[] = [];
    signs.forEach((sign, index) => {
      const step = stepBreaker(state, sign, { wallMs: index, monotonicMs: index });
      state = step.state;
      if (step.opensSinceMs !== null) openedAt.push(index);
    });
    return { state, openedAt };
  };

  it('opens with the fifth failure in a row, and knows since when', () => {
    const { state, openedAt } = stateAfter(['answer', failure, failure, failure, failure, failure]);
    expect(openedAt).toEqual([5]);
    expect(state).toEqual({ failuresInARow: failuresInARowMax, sinceMs: 1, limited: null });
  });

  it('is closed by one answer', () => {
    const { state, openedAt } = stateAfter([failure, failure, failure, failure, 'answer', failure, failure]);
    expect(openedAt).toEqual([]);
    expect(state).toEqual({ failuresInARow: 2, sinceMs: 5, limited: null });
  });

  it('is not moved by what says nothing', () => {
    const { openedAt } = stateAfter([failure, failure, 'neither', failure, failure, 'neither', failure]);
    expect(openedAt).toEqual([6]);
  });

  it('opens again after five more, for whoever works on although it is open', () => {
    expect(stateAfter(Array.from({ length: 12 }, () => failure)).openedAt).toEqual([4, 9]);
  });
});

describe('a breaker, of answers with 429', () => {
  /** When it opened, given what ended when, in seconds since the boot, how far ahead the wall clock is, and for how long a 429 holds. */
  const openedAt = (ends: readonly (readonly [number, Sign, number?, number?])[]): readonly number[] => {
    let state = closedBreaker;
    return ends.flatMap(([second, sign, aheadSeconds = 0, heldSeconds = 0]) => {
      const wallMs = (second + aheadSeconds) * 1_000;
      const step = stepBreaker(state, sign, { wallMs, monotonicMs: second * 1_000 }, heldSeconds * 1_000);
      state = step.state;
      return step.opensSinceMs === null ? [] : [second];
    });
  };

  it('opens where nothing else was answered for half a minute, and again after another', () => {
    const ends = Array.from({ length: 40 }, (_, index) => [2 * index, limited] as const);
    expect(openedAt(ends)).toEqual([30, 62]);
    expect(
      openedAt([
        [0, limited, 0, 60],
        [62, limited, 0, 60],
      ]),
    ).toEqual([62]);
  });

  it('stays closed, however many there are, where some requests are answered', () => {
    const ends = Array.from({ length: 200 }, (_, index) => [index, index % 29 === 0 ? 'answer' : limited] as const);
    expect(openedAt(ends)).toEqual([]);
  });

  it('begins anew where nothing was asked for longer than a pause lasts', () => {
    expect(
      openedAt([
        [0, limited],
        [600, limited],
        [629, limited],
        [630, limited],
      ]),
    ).toEqual([630]);
  });

  it('counts anew once it has opened, and once they have stopped: one of them after work resumed is no outage', () => {
    const limitedFor = (seconds: number) => Array.from({ length: seconds }, (_, second) => [second, limited] as const);
    // Another process opened its own before this one did; this one opened its own; and more of them were under way.
    for (const [seconds, opened] of [
      [25, []],
      [31, [30]],
      [36, [30]],
    ] as const) {
      expect(openedAt([...limitedFor(seconds), [100, limited]])).toEqual(opened);
      expect(openedAt([...limitedFor(seconds), [100, limited], [130, limited]])).toEqual([...opened, 130]);
    }
  });

  it('measures half a minute, and not a wall clock that is set', () => {
    expect(
      openedAt([
        [0, limited],
        [1, limited, 3_600],
        [29, limited, 3_600],
        [30, limited, -3_600],
      ]),
    ).toEqual([30]);
  });

  it('is opened by other failures as ever', () => {
    expect(
      openedAt([failure, limited, failure, limited, failure, failure, failure].map((sign, index) => [index, sign])),
    ).toEqual([6]);
  });
});

const change: UpdateContactBody = {
  defaultFields: { firstName: 'Ada', emails: [], phoneNumbers: [] },
  customFields: [],
};

function benchBreakers() {
  const opened: OpenedBreaker[] = [];
  let elapsedMs = 0;
  const breakers = createBreakers({
    clock: { nowMs: () => 7_000 + elapsedMs, monotonicMs: () => elapsedMs },
    onOpen: (one) => opened.push(one),
  });
  const pass = (ms: number): void => {
    elapsedMs += ms;
  };
  return { breakers, opened, pass };
}

describe('breakers of a workspace', () => {
  test('are two: reads pass while writes fail', async () => {
    const { breakers, opened } = benchBreakers();
    const { server, workspace } = await openTestWorkspace({ breakers });
    server.always((response, request) =>
      request.method === 'GET' ? reply(200, adaJson)(response, request) : reply(503, '{}')(response, request),
    );
    for (let write = 0; write < failuresInARowMax; write += 1) {
      await workspace.getContact('c1');
      expect(opened).toEqual([]);
      await workspace.updateContact('c1', change);
    }
    expect(opened).toEqual([{ kind: 'write', failure, sinceMs: 7_000, otherKindPasses: true }]);
    expect(breakers.totals('read')).toEqual({ answers: 5, failures: 0 });
    expect(breakers.totals('write')).toEqual({ answers: 0, failures: 5 });
  });

  test('tell since when all reads were limited, and do not say of them afterwards that they pass', () => {
    const { breakers, opened, pass } = benchBreakers();
    const note = (kind: BreakerKind, status: number): void => {
      const end = replied(status);
      breakers.note(kind, end, classify(end));
    };
    note('read', 200);
    note('read', 429);
    pass(30_000);
    note('read', 429);
    expect(opened).toEqual([{ kind: 'read', failure: limited, sinceMs: 7_000, otherKindPasses: false }]);
    for (let write = 0; write < failuresInARowMax; write += 1) note('write', 503);
    expect(opened[1]).toEqual({ kind: 'write', failure, sinceMs: 37_000, otherKindPasses: false });
  });

  test('count each try of a read', async () => {
    const { breakers, opened } = benchBreakers();
    const { server, workspace } = await openTestWorkspace({ breakers });
    server.always(reset);
    await expect(workspace.getContact('c1')).rejects.toMatchObject({ code: 'serviceUnreachable' });
    expect(opened).toEqual([]);
    await expect(workspace.getContact('c1')).rejects.toMatchObject({ code: 'serviceUnreachable' });
    expect(opened).toHaveLength(1);
    expect(opened[0]).toMatchObject({ kind: 'read', otherKindPasses: false, failure: { status: null } });
  });

  test('count a write whose 2xx holds no contact as failed', async () => {
    const { breakers } = benchBreakers();
    const { server, workspace } = await openTestWorkspace({ breakers });
    server.script(reply(200, '{"data":{}}'));
    expect(await workspace.updateContact('c1', change)).toMatchObject({ kind: 'doubt', status: 200 });
    expect(breakers.totals('write')).toEqual({ answers: 0, failures: 1 });
  });
});
