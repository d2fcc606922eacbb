/** Rows that the mapping thread compares with what their feed said stand as those that are compared where they are staged. */

import { expect, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type Mapping, mappingSchema } from '#src/mapping/mapping-schema.ts';
import { openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { phone } from '#test/upsert/support/build.ts';

const mapping: Mapping = mappingSchema.parse({
  name: 'crm',
  key: 'externalId',
  fields: { firstName: 'firstName', role: 'role' },
  phones: [{ column: 'phone', label: 'work' }],
  emails: [{ column: 'email', label: 'work' }],
});
const header = 'externalId,firstName,role,phone,email';
const feed = 'crm';
const inFeed = { feed, mapping };

const rowOf = (number: number, role = 'Buyer', tel: string = phone(number), mail = `p${number}@example.com`): string =>
  `c-${number},Ann,${role},${tel},${mail}`;
const file = (...rows: readonly string[]) => [header, ...rows, ''].join('\r\n');
const numbers = Array.from({ length: 30 }, (_, index) => index + 1);
const apart = (...given: readonly number[]) => numbers.filter((one) => !given.includes(one)).map((one) => rowOf(one));

/** Another spelling of the same number. */
const spelt = (number: number) => phone(number).replace(/^\+(\d)(\d{3})(\d{3})/, '+$1 ($2) $3-');

const second = file(
  rowOf(1, 'Boss'),
  rowOf(2, '#CLEAR'),
  rowOf(3, 'Buyer', '#CLEAR'),
  rowOf(4, 'Buyer', spelt(4)),
  rowOf(6, 'Buyer', 'no number'),
  rowOf(7, 'Boss'),
  rowOf(8, 'Clerk'),
  rowOf(10, 'Boss', phone(99)),
  'n-1,Bo,Clerk,,',
  'n-2,,,,',
  rowOf(7, 'Clerk'),
  rowOf(8, 'Clerk'),
  ...apart(1, 2, 3, 4, 6, 7, 8, 9, 10),
);
const third = file(
  rowOf(1, 'Boss'),
  rowOf(2),
  rowOf(3, 'Buyer', ''),
  rowOf(9),
  rowOf(11, 'Seller'),
  ...apart(1, 2, 3, 9, 11, 12),
);

/** What a run has staged, without what no two runs share. */
async function stagedOf(bench: RunsBench, run: RunRecord) {
  const { records } = await bench.ledger.runs.stagedPage(run.id, 0, 1_000);
  const { state, counts, reason, shape } = await bench.again(run);
  return {
    ...{ state, counts, reason: reason?.message ?? null, shape },
    records: records.map(({ key, line, desired, fingerprint, rowHash }) => ({
      key,
      line,
      desired,
      fingerprint,
      rowHash,
    })),
    events: (await bench.events(run)).map(({ kind, line, key, code, field, message }) => [
      kind,
      line,
      key,
      code,
      field,
      message,
    ]),
    dead: (await bench.deadRows(run)).map(({ line, key, code, problems }) => ({ line, key, code, problems })),
  };
}

/** Plays the three files. @param asked the keys for which the ledger itself was asked while the last two were staged. */
async function played(asked: string[], rowsMappedHereMax?: number) {
  const ends = rowsMappedHereMax === undefined ? {} : { rowsMappedHereMax };
  const guards = { updatesMax: '10%', updatesFloor: 1, clearsMax: '2%', clearsFloor: 1, deadMax: '100%' };
  const configured = { [feed]: { onMissing: 'tag role=Gone', guards } };
  const bench = await openRunsBench({ configured, ...ends });
  await bench.import('a.csv', file(...apart()), inFeed);
  const { id, defaultFields } = await bench.world.contactOf('c-1');
  await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: 'Owner' } });
  const runs: Ledger['runs'] = {
    ...bench.ledger.runs,
    saidOf: async (of, keys) => {
      asked.push(...keys);
      return await bench.ledger.runs.saidOf(of, keys);
    },
  };
  const parts = { ...bench.parts, ledger: { ...bench.ledger, runs } };
  const found: unknown[] = [];
  for (const [name, text] of [
    ['b.csv', second],
    ['c.csv', third],
  ] as const) {
    const stopped = await bench.stage(await bench.submit(name, text, inFeed), { parts });
    expect(stopped.state).toBe('stopped');
    found.push(await stagedOf(bench, stopped));
    const accepted = await bench.import(`again-${name}`, text, { ...inFeed, options: { accept: true } });
    const contacts = (await bench.world.contacts()).map(({ externalId, defaultFields: { role, phoneNumbers } }) =>
      [externalId, role, ...phoneNumbers.map(({ value }) => value)].join(' '),
    );
    found.push({ counts: accepted.counts, contacts: contacts.toSorted() });
  }
  return found;
}

test('each row of a file stands as it would without the thread, and the ledger is asked for few keys', async () => {
  const here: string[] = [];
  const there: string[] = [];
  const without = await played(here);
  const threaded = await played(there, 0);
  expect(threaded).toEqual(without);
  expect(here).toContain('c-10');
  expect(there).not.toContain('c-10');
  // A rejected row comes back whole, and is judged where it is staged.
  expect(there).toContain('c-6');
});
