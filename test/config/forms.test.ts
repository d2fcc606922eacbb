import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, formatPercentage, parseDuration, parsePercentage } from '#src/config/forms.ts';

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['26h', 93_600_000],
    ['400d', 34_560_000_000],
    ['0s', 0],
  ])('%s is %d milliseconds', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '30', '30 s', '-1s', '1.5h', '1h30m', '10M', 's', '1y', '1e3s'])('%j is no duration', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it('a written duration is read as the same number', () => {
    fc.assert(
      fc.property(fc.nat({ max: 999_999_999 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });
});

describe('percentages', () => {
  it.each([
    ['30%', 0.3],
    ['2.5%', 0.025],
    ['0%', 0],
    ['100%', 1],
  ])('%s is the fraction %d', (text, fraction) => {
    expect(parsePercentage(text)).toBeCloseTo(fraction, 10);
  });

  it.each(['', '30', '0.3', '101%', '-1%', '%', '3,5%'])('%j is no percentage', (text) => {
    expect(parsePercentage(text)).toBeNull();
  });

  it('a written percentage is read as the same fraction', () => {
    for (const text of ['30%', '2.5%', '0%', '100%', '7%', '12.3456%']) {
      expect(formatPercentage(parsePercentage(text) ?? Number.NaN)).toBe(text);
    }
  });
});
