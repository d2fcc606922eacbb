/** What a `DATABASE_URL` says, as libpq reads it; and texts on their way into PostgreSQL. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { parseAddress } from '#src/ledger/postgres/address.ts';
import { dumpCommand } from '#src/ledger/postgres/check.ts';
import { fromText, toParameter, toText } from '#src/ledger/postgres/values.ts';

const problemOf = (url: string): { readonly code: string; readonly message: string } => {
  try {
    parseAddress(url);
  } catch (error) {
    return error as { readonly code: string; readonly message: string };
  }
  throw new Error('it was taken');
};

test('host, port, user, password and database are taken apart; what is shown has no password', () => {
  const { connection, schema, shown } = parseAddress('postgresql://me%40work:h%3Ash@db.example.com:6000/my%20db');
  expect(connection).toMatchObject({
    host: 'db.example.com',
    port: 6_000,
    user: 'me@work',
    password: 'h:sh',
    database: 'my db',
  });
  expect(schema).toBe('patchbay');
  expect(shown).toBe('postgres://me%40work@db.example.com:6000/my db?schema=patchbay');
});

test('the schema is named by schema= or a search path, and that of the sandbox beside it', () => {
  expect(parseAddress('postgres://h/d?schema=crm').schema).toBe('crm');
  expect(parseAddress('postgres://h/d?options=-c%20search_path%3Dcrm', '_sandbox').schema).toBe('crm_sandbox');
});

test('a socket is named by its folder, and needs no encryption', () => {
  const { connection } = parseAddress('postgres://me@%2Fvar%2Frun%2Fpostgresql/d');
  expect(connection).toMatchObject({ host: '/var/run/postgresql', ssl: false });
  expect(parseAddress('postgres://me@x/d?host=/tmp&port=5433&sslmode=require').connection).toMatchObject({
    ...{ host: '/tmp', port: 5_433, ssl: false },
  });
});

test('sslmode means what it means to libpq', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-root-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const root = join(folder, 'root.crt');
  writeFileSync(root, 'CERTIFICATE');
  const of = (query: string) => parseAddress(`postgres://h/d${query}`);
  expect(of('?sslmode=disable').connection.ssl).toBe(false);
  expect(of('')).toMatchObject({ mayBePlain: true, connection: { ssl: { rejectUnauthorized: false } } });
  expect(of('?sslmode=require')).toMatchObject({
    mayBePlain: false,
    connection: { ssl: { rejectUnauthorized: false } },
  });
  const required = of(`?sslmode=require&sslrootcert=${root}`).connection.ssl;
  expect(required).toEqual({ ca: 'CERTIFICATE', checkServerIdentity: expect.any(Function) });
  expect(of(`?sslmode=verify-ca&sslrootcert=${root}`).connection.ssl).toEqual({
    ...{ ca: 'CERTIFICATE', checkServerIdentity: expect.any(Function) },
  });
  expect(of(`?sslmode=verify-full&sslrootcert=${root}`).connection.ssl).toEqual({ ca: 'CERTIFICATE' });
  expect(of('?sslmode=verify-full').connection.ssl).toEqual({});
});

test.each([
  'mysql://me:hush@h/d',
  'postgres:hush',
  'postgres://me:hush@h/d?password=hush',
  'postgres://me:hush@h/d?sslmode=maybe',
  'postgres://me:hush@h/d?schema=Upper',
  'postgres://me:hush@h/d?schema=pg_mine',
  'postgres://me:hush@h/d?options=-c%20work_mem%3D1',
  'postgres://me:hush@h/d?sslrootcert=/no/such/file&sslmode=verify-ca',
  'postgres://me:%hush@h/d',
  'postgres://me:12/hush@h/d',
  'postgres://me:p@ss/hush@h/d',
  'postgres://me:12?hush&x@h/d',
  'postgres://me:12#hush@h/d',
  'postgres://me:hush@h1,h2/d',
])('%s is refused, and its password not repeated', (url) => {
  const { code, message } = problemOf(url);
  expect(code).toBe('databaseUrlInvalid');
  expect(message).not.toContain('hush');
});

test('the command that backs it up names the schema, and no password', () => {
  expect(dumpCommand('postgres://me:hush@h/d?sslmode=require', '_sandbox', "/b/it's.dump")).toBe(
    "pg_dump --format=custom --schema=patchbay_sandbox --file='/b/it'\\''s.dump' 'postgres://me@h:5432/d?sslmode=require'",
  );
});

test('any text comes back as it was, and goes without U+0000', () => {
  const odd = fc.string({ unit: fc.constantFrom('\0', '\uFDD0', '0', 'd', 'a', '"', '\\', '😀') });
  fc.assert(
    fc.property(odd, (text) => {
      expect(toText(text)).not.toContain('\0');
      expect(fromText(toText(text))).toBe(text);
    }),
  );
});

test('a list becomes an array of PostgreSQL', () => {
  expect(toParameter(['a', null, 'NULL', 'b"c\\d', '', '{,}'])).toBe('{"a",NULL,"NULL","b\\"c\\\\d","","{,}"}');
  expect(toParameter([1, null, -2])).toBe('{1,NULL,-2}');
  expect(toParameter([new Uint8Array([0, 255])])).toBe('{"\\\\x00ff"}');
});

test.each([
  ['postgres://me@/d?host=/run/postgresql', 'DATABASE_URL has no host behind the @'],
  ['postgres://me:hush@h1:5432,h2:5432/d', 'DATABASE_URL has more than one host: name one'],
])('%s is refused for its hosts, not for its password', (url, problem) => {
  expect(problemOf(url).message).toContain(problem);
});
