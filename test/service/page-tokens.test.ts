/** Page tokens: each belongs to one listing of one store (4.6). */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { createPageTokens } from '#src/service/paging.ts';
import { dumpWorkspace } from '#src/service/workspace-file/dump-workspace.ts';
import { openTestService, send, startTestService, type TestServiceOptions } from './test-service.ts';

const seeded = { seedContacts: 5, seedPhoneNumbers: 2, pageNumbers: 1 } satisfies TestServiceOptions;

/** The four listings of a workspace, by pages of one. */
async function listingsOf(origin: string): Promise<readonly string[]> {
  const [number] = (await send(origin, 'GET', '/v1/phone-numbers')).body.data;
  const conversation = `phoneNumberId=${number.id}&participants=%2B12015550100&maxResults=1`;
  return [
    '/v1/contacts?maxResults=1',
    '/v1/phone-numbers?',
    `/v1/calls?${conversation}`,
    `/v1/messages?${conversation}`,
  ];
}

async function tokensOf(origin: string): Promise<readonly string[]> {
  const answers = (await listingsOf(origin)).map((path) => send(origin, 'GET', path));
  return (await Promise.all(answers)).map((answer) => answer.body.nextPageToken);
}

const statusWith = async (origin: string, path: string | undefined, token: string | undefined) =>
  (await send(origin, 'GET', `${path}&pageToken=${token}`)).status;

function storeFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'page-tokens-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'service.sqlite');
}

test('a token is short, and stands in a query as it is', async () => {
  const { origin } = await startTestService(seeded);
  for (const token of await tokensOf(origin)) expect(token).toMatch(/^[\w.-]{13,28}$/);
});

test('a token is taken by the listing that gave it, and by no other', async () => {
  const { origin } = await startTestService(seeded);
  const [listings, tokens] = [await listingsOf(origin), await tokensOf(origin)];
  for (const [place, path] of listings.entries()) {
    const statuses = await Promise.all(tokens.map((token) => statusWith(origin, path, token)));
    expect(statuses).toEqual(tokens.map((_, other) => (other === place ? 200 : 400)));
  }
});

test('a token of another store is refused', async () => {
  const [one, other] = [await startTestService(seeded), await startTestService(seeded)];
  const [listings, tokens] = [await listingsOf(one.origin), await tokensOf(other.origin)];
  for (const [place, path] of listings.entries()) expect(await statusWith(one.origin, path, tokens[place])).toBe(400);
});

test('a token that was changed in any place is refused', async () => {
  const service = await startTestService(seeded);
  const [listings, tokens] = [await listingsOf(service.origin), await tokensOf(service.origin)];
  for (const [place, path] of listings.entries()) {
    const token = tokens[place] ?? '';
    const forged = [...token].map((one, at) => token.slice(0, at) + (one === '1' ? '2' : '1') + token.slice(at + 1));
    for (const wrong of [...forged, token.slice(12), token.slice(0, 12), `${token}0`]) {
      const { status, body } = await service.call('GET', `${path}&pageToken=${wrong}`);
      expect([status, body.errors]).toEqual([
        400,
        [{ path: 'pageToken', message: 'is not a token that this listing gave', schema: { type: 'string' } }],
      ]);
    }
  }
});

test('a token survives a restart, and is nowhere in a dump', async () => {
  const store = storeFile();
  const first = await openTestService({ store, ...seeded });
  const tokens = await tokensOf(first.origin);
  await first.close();
  const second = await startTestService({ store, ...seeded });
  for (const [place, path] of (await listingsOf(second.origin)).entries()) {
    expect(await statusWith(second.origin, path, tokens[place])).toBe(200);
  }
  await dumpWorkspace({ store, file: `${store}.json`, stdout: () => process.stdout });
  const database = new DatabaseSync(store, { readOnly: true });
  const secret = database.prepare('SELECT page_token_secret AS secret FROM workspace').get()?.secret;
  database.close();
  if (!(secret instanceof Uint8Array)) throw new Error('the store has no secret');
  expect(secret).toHaveLength(16);
  const dump = readFileSync(`${store}.json`);
  for (const form of ['hex', 'base64', 'base64url', 'latin1'] as const) {
    expect(dump.includes(Buffer.from(secret).toString(form))).toBe(false);
  }
});

test('the token that a fault gives for ever is one of its own listing', async () => {
  const { origin } = await startTestService({ ...seeded, pageNumbers: 50, faults: ['*:repeatToken'] });
  const listings = (await listingsOf(origin)).map((path) => path.replace('maxResults=1', 'maxResults=50'));
  for (const path of listings) {
    const { nextPageToken } = (await send(origin, 'GET', path)).body;
    const again = await send(origin, 'GET', `${path}&pageToken=${nextPageToken}`);
    expect([again.status, again.body.nextPageToken]).toEqual([200, nextPageToken]);
    expect(again.body.data.length).toBeGreaterThan(0);
  }
});

test('a token costs the same wherever its place is', () => {
  const tokens = createPageTokens(new Uint8Array(16));
  for (const afterSeq of [0, 1, 35, 36, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
    const token = tokens.ofSeq('contacts', afterSeq);
    expect(token.length).toBeLessThan(30);
    expect(tokens.readSeq('contacts', token)).toBe(afterSeq);
  }
  for (const place of [
    { createdMs: 0, seq: 0 },
    { createdMs: 999_999_999_999_999, seq: Number.MAX_SAFE_INTEGER },
  ]) {
    expect(tokens.readPlace('calls', tokens.ofPlace('calls', place))).toEqual(place);
  }
});
