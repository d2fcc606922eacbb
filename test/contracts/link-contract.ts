/** What the ledger knows of contacts without an externalId, and of keys in another form. */
import { expect, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import type { Look } from '#src/ledger/runs.ts';
import {
  applyingRun,
  boundTo,
  createdAtMs,
  deadRow,
  horizonAt,
  lease,
  newRecord,
  nobodyOwns,
  pendingOf,
  settleAs,
  settled,
  slice,
  stagingRun,
  wellEnd,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const look: Look = {
  ...{ contacts: 7, unkeyed: 3, pages: 1, creates: 2, matched: 1, unclear: 0, decided: 0 },
  end: 'whole',
};

/** Binds keys as a run that has made their contacts does. */
async function know(ledger: Ledger, run: string, ...keys: readonly string[]): Promise<void> {
  const made = await applyingRun(ledger, run, keys);
  await settleAs(
    ledger,
    made,
    'w1',
    (await pendingOf(ledger, made)).map((record) => settled(record)),
  );
}

export function linkContract(open: OpenLedger): void {
  test('new keys are those that no contact is known of and that still wait, page by page', async () => {
    const { ledger } = await openForTest(open);
    await know(ledger, 'r0', 'known');
    const run = await stagingRun(ledger, 'r1');
    const records = ['k1', 'known', 'k2', 'k3'].map((key, index) => newRecord(key, { line: index + 2 }));
    await ledger.runs.stage(slice(run, { records }));
    await ledger.runs.stage(slice(run, { withdrawnRows: [{ position: 4, end: { kind: 'skipped' } }] }));
    const first = await ledger.runs.newKeys('r1', 0, 1);
    expect(first).toEqual([{ position: 1, key: 'k1', unlinked: [] }]);
    expect((await ledger.runs.newKeys('r1', 1, 10)).map(({ key }) => key)).toEqual(['k2']);
  });

  test('a new key says as what its feed rejected it when it was to be linked', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const dead = [deadRow('k1', { code: 'linkGone' }), deadRow('k1'), deadRow('k2', { code: 'refused400' })];
    await ledger.runs.stage(slice(run, { dead }));
    const again = await stagingRun(ledger, 'r2');
    await ledger.runs.stage(slice(again, { records: [newRecord('k1'), newRecord('k2')] }));
    const elsewhere = await stagingRun(ledger, 'r3', { feed: 'crm' });
    await ledger.runs.stage(slice(elsewhere, { records: [newRecord('k1')] }));
    const unlinkedOf = async (id: string) => (await ledger.runs.newKeys(id, 0, 10)).map(({ unlinked }) => unlinked);
    expect(await unlinkedOf('r2')).toEqual([['linkGone'], []]);
    expect(await unlinkedOf('r3')).toEqual([[]]);
  });

  test('what a row was found to be comes with its record', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1', 'k2', 'k3']);
    await ledger.runs.linkRows('r1', [
      { position: 1, link: { kind: 'contact', contactId: 'h' } },
      { position: 2, link: { kind: 'unclear', isDecided: true } },
    ]);
    const links = (await pendingOf(ledger, run)).map(({ link }) => link);
    expect(links).toEqual([{ kind: 'contact', contactId: 'h' }, { kind: 'unclear', isDecided: true }, undefined]);
  });

  test('a look counts for its feed once its run goes on, and is forgotten where the run is read anew', async () => {
    const { ledger } = await openForTest(open);
    await stagingRun(ledger, 'r1');
    await ledger.runs.record('r1', { look });
    expect((await ledger.runs.get('r1'))?.look).toEqual(look);
    expect(await ledger.runs.lastLook('main')).toBeNull();
    await ledger.runs.beginStaging('r1', createdAtMs + 2);
    expect((await ledger.runs.get('r1'))?.look).toBeNull();
    await ledger.runs.record('r1', { look });
    await ledger.runs.move('r1', ['staging'], 'applying', { atMs: createdAtMs + 3 });
    expect(await ledger.runs.lastLook('main')).toEqual(look);
    expect(await ledger.runs.lastLook('crm')).toBeNull();
    await stagingRun(ledger, 'r2');
    await ledger.runs.record('r2', { look: { ...look, pages: 9 } });
    await ledger.runs.move('r2', ['staging'], 'stopped', { atMs: createdAtMs + 4 });
    expect((await ledger.runs.lastLook('main'))?.pages).toBe(1);
    await ledger.runs.move('r2', ['stopped'], 'applying', { atMs: createdAtMs + 5 });
    expect((await ledger.runs.lastLook('main'))?.pages).toBe(9);
  });

  test('keys are found in any case of their letters, once they are bound', async () => {
    const { ledger } = await openForTest(open);
    await know(ledger, 'r0', 'HubSpot-251', 'ÄRGER', 'other');
    await applyingRun(ledger, 'r1', ['ADA']);
    await lease(ledger, 'w1', ['ADA']);
    const alike = async (limit: number, ...folded: readonly string[]) =>
      (await ledger.contacts.alikeKeys(folded, limit)).map(({ key, seen }) => [key, seen?.id]).toSorted();
    expect(await alike(10, 'hubspot-251', 'ada', 'ärger')).toEqual([['HubSpot-251', 'id-of-HubSpot-251']]);
    expect(await alike(10, 'Ärger')).toEqual([['ÄRGER', 'id-of-ÄRGER']]);
    expect((await alike(1, 'hubspot-251', 'other')).length).toBe(1);
  });

  test('contacts are found by their id, and by an address or a number in any spelling', async () => {
    const { ledger } = await openForTest(open);
    const values: Readonly<Record<string, readonly [email: string, phone: string]>> = {
      plain: ['ada@example.com', '+14155550101'],
      spelt: ['Ada@Example.com', '+1 (415) 555-0101'],
      decomposed: ['Zoe\u0308_1@example.com', '4915112345678901'],
      quoted: ['"a\\b"@example.com', '+14155550102'],
      // A text that only a form of JSON holds.
      separated: ['bo@example.com\u001f', '+14155550103'],
      scattered: ['41555@50101.example', '+1'],
      // Letters beyond ASCII that are letters of ASCII in small ones.
      capitals: ['ALİ.\u212aAYA@firma.example', '+905321234567'],
    };
    const run = await applyingRun(ledger, 'r1', Object.keys(values));
    const boundWith = (key: string) => {
      const bound = boundTo(key);
      const [email, phone] = values[key] ?? ['', ''];
      const emails = [{ id: 'e', name: 'work', value: email }];
      const phoneNumbers = [{ id: 'p', name: 'work', value: phone }];
      const defaultFields = { ...bound.seen.defaultFields, emails, phoneNumbers };
      return { ...bound, seen: { ...bound.seen, defaultFields } };
    };
    const records = (await pendingOf(ledger, run)).map((record) => settled(record, { bound: boundWith(record.key) }));
    await settleAs(ledger, run, 'w1', records);
    const keysOf = async (text: string) => (await ledger.contacts.keysSeenWith(text)).toSorted();
    expect(await keysOf(' ADA@example.com ')).toEqual(['plain', 'spelt']);
    expect(await keysOf('ada@example')).toEqual([]);
    expect(await keysOf('ad%@example.com')).toEqual([]);
    expect(await keysOf('zoë_1@example.com')).toEqual(['decomposed']);
    expect(await keysOf('"A\\B"@example.com')).toEqual(['quoted']);
    expect(await keysOf('bo@example.com\u001f')).toEqual(['separated']);
    expect(await keysOf('+1 415.555.0101')).toEqual(['plain', 'spelt']);
    expect(await keysOf('49 151 1234567 8901')).toEqual(['decomposed']);
    expect(await keysOf('+14155550103')).toEqual(['separated']);
    expect(await keysOf('ALİ.\u212aAYA@firma.example')).toEqual(['capitals']);
    expect(await keysOf('Tel. +90 532 123 45 67')).toEqual(['capitals']);
    expect(await keysOf('tel:+14155550101')).toEqual(['plain', 'spelt']);
    expect(await keysOf('id-of-quoted')).toEqual(['quoted']);
    expect(await keysOf('quoted')).toEqual([]);
    expect(await keysOf('+1')).toEqual([]);
  });

  test('of keys that are digits with a zero in front behind a prefix there is one for each length', async () => {
    const { ledger } = await openForTest(open);
    await know(ledger, 'r0', '007', '008', '0001', '42', '0x7', 'CRM-05', 'crm-06', 'crm-007', 'b-0');
    await applyingRun(ledger, 'r1', ['000000']);
    await lease(ledger, 'w1', ['000000']);
    const lengths = async (prefix: string, limit = 10) =>
      (await ledger.contacts.zeroLedLengths(prefix, limit)).toSorted((a, b) => a - b);
    expect(await lengths('')).toEqual([3, 4]);
    expect(await lengths('crm-')).toEqual([2, 3]);
    expect(await lengths('b-')).toEqual([1]);
    expect(await lengths('', 1)).toHaveLength(1);
    expect(await lengths('x-')).toEqual([]);
  });

  test('a contact is linked to one key: a second claim of it is refused, until the first is taken back', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'w1', ['k1', 'k2']);
    const claim = (key: string) =>
      ledger.contacts.claimItems({
        contacts: [{ key, owned: nobodyOwns, position: 1, claim: null, resolved: null, linkTo: 'h' }],
        ...{ owner: 'w1', runId: 'r1', atMs: createdAtMs, horizon: horizonAt(9_000) },
      });
    expect(await claim('k1')).toEqual([]);
    expect(await claim('k1')).toEqual([]);
    expect(await claim('k2')).toEqual(['k2']);
    const known = await ledger.contacts.get(['k1', 'k2']);
    expect([known.get('k1')?.linkedTo, known.get('k2')?.linkedTo]).toEqual(['h', null]);
    await ledger.contacts.unclaimItems('w1', [{ key: 'k1', owned: nobodyOwns, claim: null }]);
    expect(await claim('k2')).toEqual([]);
  });

  test('a key that is bound stays linked, and its linking is counted', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    const [record] = await pendingOf(ledger, run);
    if (record === undefined) throw new Error('a record is staged');
    await settleAs(ledger, run, 'w1', [settled(record, { end: wellEnd('updated', { adopted: true, linked: true }) })]);
    expect((await ledger.runs.get('r1'))?.counts).toMatchObject({ updated: 1, adopted: 1, linked: 1 });
  });

  test('the key prefixes of mappings are told, the newest first, each once', async () => {
    const { ledger } = await openForTest(open);
    const mapping = (keyPrefix: string) => ({ name: 'm', key: 'id', keyPrefix }) as never;
    for (const [index, prefix] of ['a-', 'b-', 'a-', ''].entries())
      await stagingRun(ledger, `r${index}`, { mapping: mapping(prefix) });
    await stagingRun(ledger, 'r9');
    expect(await ledger.runs.keyPrefixes(10)).toEqual(['a-', 'b-']);
    expect(await ledger.runs.keyPrefixes(1)).toEqual(['a-']);
  });
}
