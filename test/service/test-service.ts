/** Builders for the tests of the service: a running one, requests against it, and a clock that is moved by hand. */
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Clock } from '#src/clock.ts';
import { parseFault } from '#src/service/faults/faults.ts';
import type { ServiceOptions } from '#src/service/service-options.ts';
import { type RunningService, startService } from '#src/service/start-service.ts';
import type { LiteralJson } from '#test/support/literal-json.ts';
import { serviceDefaults } from '#test/support/service-defaults.ts';
import { createReplyCheck, type ReplyCheck } from '../support/reply-check.ts';

export const testKey: string = serviceDefaults.apiKeys[0];

export interface TestServiceOptions extends Partial<Omit<ServiceOptions, 'faults'>> {
  readonly faults?: readonly string[];
}

/** Options whose service holds its replies to the public description: a misfit fails the test that asked for them. */
export function serviceOptions(options: TestServiceOptions = {}): ServiceOptions {
  const check = createReplyCheck();
  onTestFinished(check.requireFit);
  return checkedOptions(check, options);
}

function checkedOptions(check: ReplyCheck, { faults = [], ...overrides }: TestServiceOptions): ServiceOptions {
  return {
    replyObserver: check.observer,
    ...serviceDefaults,
    ...overrides,
    faults: faults.map(parseFault),
  };
}

/** A running service that the test closes itself. */
export function openTestService(options: TestServiceOptions = {}): Promise<RunningService> {
  return startService(serviceOptions(options));
}

/**
 * One service for all tests of a file, none of which minds what another one left in it. It runs from the first of them
 * to the last.
 */
export function shareTestService(options: TestServiceOptions = {}): () => TestService {
  let shared: TestService | null = null;
  const check = createReplyCheck();
  beforeAll(async () => {
    shared = withCall(await startService(checkedOptions(check, options)));
  });
  afterAll(async () => {
    await shared?.close();
    check.requireFit();
  });
  return () => {
    if (shared === null) throw new Error('no test runs');
    return shared;
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; null for an empty one. Its shape is what the tests are about. */
  readonly body: LiteralJson;
}

export interface TestService extends RunningService {
  /** Sends one request with the key; a body is sent as JSON. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<Answer>;
}

/** A service on a free port; closed when the test ends. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await openTestService(options);
  onTestFinished(() => service.close());
  return withCall(service);
}

function withCall(service: RunningService): TestService {
  return { ...service, call: (method, path, body) => send(service.origin, method, path, body) };
}

export async function send(origin: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const headers: Record<string, string> = { authorization: testKey };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(origin + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

/** A create body with as little as the interface allows. */
export function person(externalId: string | null, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { externalId, defaultFields: { firstName: 'Ada' }, ...more };
}

/** A clock that stands still until it is moved. Sleepers wake when it passes their instant. */
export interface ManualClock extends Clock {
  readonly advance: (ms: number) => void;
  readonly sleeperCount: () => number;
}

export function manualClock(startMs = Date.UTC(2026, 10, 21)): ManualClock {
  let nowMs = startMs;
  const sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    bootId: 'test',
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { untilMs: nowMs + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(new DOMException('aborted', 'AbortError'));
        });
      }),
    sleeperCount: () => sleepers.size,
    advance: (ms) => {
      nowMs += ms;
      for (const sleeper of sleepers) {
        if (sleeper.untilMs > nowMs) continue;
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
  };
}
