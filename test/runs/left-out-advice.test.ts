/** What a person is told to do about columns that nothing maps, by how the file came (`docs/rules.md`, "Guards"). */
import { describe, expect, it } from 'vitest';
import { noOptions, type RunOptions } from '#src/ledger/runs.ts';
import type { ContactColumn } from '#src/mapping/contact-columns.ts';
import { leftOutVerdict } from '#src/runs/feed-history.ts';
import { newRun } from '#test/contracts/support/build.ts';

const country: ContactColumn = { column: 'Land', kind: 'country', line: '', generic: 'defaultCountry' };
const phone: ContactColumn = { column: 'Telefon Empfang', kind: 'phone', line: '', generic: 'phone' };

const adviceOf = (
  column: ContactColumn,
  origin: RunOptions['origin'],
  feed: string,
  host: string | null = null,
): string | undefined => {
  const options = { ...noOptions, origin };
  const run = newRun('r-1', { feed, fileName: 'a.csv', options, claimedPath: '/data/a.csv', host });
  return leftOutVerdict([column], run as never)[0]?.advice;
};

describe('columns that nothing maps', () => {
  it.each([
    ['command', 'main', 'in the file, or map it with --mapping.'],
    ['folder', 'main', 'in the file, or map it in a mapping that the config file names (mapping.file).'],
    ['schedule', 'crm', 'in the file, or map it in a mapping of the feed.'],
  ] as const)('of a file by %s, in feed %s: where to map them', (origin, feed, words) => {
    expect(adviceOf(phone, origin, feed)).toContain(words);
  });

  it.each([
    ['command', 'main', '--save a.csv make', ', and import the file again with that (--mapping).'],
    ['command', 'crm', '--feed crm --save a.csv make', ', and import the file again.'],
    ['folder', 'main', '--save /data/a.csv make', ', and name it in the config file (mapping.file).'],
    ['request', 'crm', '--feed crm --save /data/a.csv make', ' a mapping that reads "Land".'],
  ] as const)('with countries, by %s in feed %s: the command, and what follows', (origin, feed, command, end) => {
    const advice = adviceOf(country, origin, feed) ?? '';
    expect(advice).toContain(`patchbay map ${command}`);
    expect(advice.endsWith(end)).toBe(true);
  });

  it('with countries, of a file on one of several hosts: which', () => {
    expect(adviceOf(country, 'folder', 'crm', 'host-b')).toMatch(/ Its file is on host host-b\.$/);
    expect(adviceOf(country, 'command', 'crm', 'host-b')).not.toContain('host-b');
  });

  it('with countries: what the mapping does not read, and which rows it rejects', () => {
    const strays = { numbers: 1_000, unread: ['customFields'] };
    const advice = adviceOf({ ...country, strays }, 'command', 'crm');
    expect(advice).toContain('it does not read "customFields", which the generic layout reads');
    expect(advice).toContain('(1000 numbers or more): correct "Land" in them, or leave it blank.');
  });
});
