/** The grammar of faults: `OPERATION:FAULT[=ARGUMENT][:PROBABILITY]`. */
import { describe, expect, test } from 'vitest';
import { parseFault } from '#src/service/faults/faults.ts';

describe('a fault is read', () => {
  test.each([
    ['create:dropAfter:5%', 'create', { kind: 'dropAfter' }, 0.05],
    ['list:listLag=2s', 'list', { kind: 'listLag', delayMs: 2000 }, 1],
    ['*:status=503;retryAfter=2:3%', '*', { kind: 'status', status: 503, retryAfterSeconds: 2 }, 0.03],
    ['*:status=418', '*', { kind: 'status', status: 418, retryAfterSeconds: null }, 1],
    ['numbers:repeatToken', 'numbers', { kind: 'repeatToken' }, 1],
    ['get:latency=250ms:0.5', 'get', { kind: 'latency', delayMs: 250 }, 0.5],
    ['update:lateCommit=1.5s', 'update', { kind: 'lateCommit', delayMs: 1500 }, 1],
    ['delete:hangAfter', 'delete', { kind: 'hangAfter', delayMs: null }, 1],
    ['fields:hangAfter=1m:100%', 'fields', { kind: 'hangAfter', delayMs: 60_000 }, 1],
  ])('%s', (text, operation, fault, probability) => {
    expect(parseFault(text)).toEqual({ text, operation, fault, probability });
  });
});

describe('a fault is refused', () => {
  test.each([
    ['dropAfter', 'faultMalformed'],
    ['create:dropAfter:5%:x', 'faultMalformed'],
    ['', 'faultMalformed'],
    ['erase:dropAfter', 'operationUnknown'],
    ['create:explode', 'faultUnknown'],
    ['create:toString', 'faultUnknown'],
    ['create:listLag=2s', 'faultMisplaced'],
    ['numbers:listLag=2s', 'faultMisplaced'],
    ['create:latency', 'faultArgument'],
    ['create:latency=2', 'faultArgument'],
    ['create:latency=2h', 'faultArgument'],
    ['create:latency=61m', 'faultArgument'],
    ['create:dropAfter=2s', 'faultArgument'],
    ['create:status', 'faultArgument'],
    ['create:status=200', 'faultArgument'],
    ['create:status=503;retryAfter=x', 'faultArgument'],
    ['create:dropAfter:0%', 'faultArgument'],
    ['create:dropAfter:101%', 'faultArgument'],
    ['create:dropAfter:5', 'faultArgument'],
    ['create:dropAfter:', 'faultArgument'],
    ['create:latency=1s\n', 'faultArgument'],
    ['create:dropAfter\n', 'faultUnknown'],
    [' create:dropAfter', 'operationUnknown'],
  ])('%j with %s', (text, code) => {
    expect(() => parseFault(text)).toThrow(expect.objectContaining({ kind: 'usage', code }));
  });

  test('an unknown one with the names of those that are known', () => {
    expect(() => parseFault('create:explode')).toThrow(/latency.*dropAfter.*notJson/);
    expect(() => parseFault('list:listLag=1h')).toThrow(/a duration in ms, s or m, .* up to 60m, not “1h”/);
  });
});
