/**
 * The bare loops that imports are measured against, each in a process of its own: `baseline.ts KIND …`. Prints its seconds
 * as JSON.
 *
 * - `parse FILE`: papaparse over the file, arrays, chunk by chunk, and nothing else.
 * - `normalise FILE`: the same, each of the two phones read by libphonenumber-js, and a SHA-256 of each row.
 * - `create ORIGIN KEY COUNT`: the least that an upsert of new rows has to send: one look-up for 20 keys, then 20 creates.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import Papa from 'papaparse';
import { Pool } from 'undici';
import { cellsOfRow, exportColumns, exportCountry } from './export-file.ts';

const keysPerLookUp = 20;
const connections = 16;
const lanes = 2;
const phoneColumns = exportColumns.flatMap((name, index) => (name.startsWith('phone') ? [index] : []));

const [kind, first = '', key = '', count = '0'] = process.argv.slice(2);
const startedAt = performance.now();
if (kind === 'parse') await parseRows(first, () => undefined);
else if (kind === 'normalise') await normalise(first);
else if (kind === 'create') await create(first, key, Number(count));
else throw new Error(`no bare loop is called ${kind}`);
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1_000 }));

function parseRows(file: string, take: (row: readonly string[]) => void): Promise<void> {
  return new Promise((done, reject) => {
    Papa.parse<string[]>(createReadStream(file, 'utf8'), {
      skipEmptyLines: true,
      chunk: ({ data }) => data.forEach(take),
      complete: () => done(),
      error: reject,
    });
  });
}

async function normalise(file: string): Promise<void> {
  await parseRows(file, (row) => {
    const options = { defaultCountry: exportCountry, extract: false } as const;
    const phones = phoneColumns.map((column) => parsePhoneNumberFromString(row[column] ?? '', options)?.number ?? null);
    createHash('sha256')
      .update(JSON.stringify([row, phones]))
      .digest('base64url');
  });
}

async function create(origin: string, apiKey: string, rows: number): Promise<void> {
  const pool = new Pool(origin, { connections });
  const headers = { authorization: apiKey, 'content-type': 'application/json' };
  const lookUpAndCreate = async (start: number): Promise<void> => {
    const bodies = Array.from({ length: Math.min(keysPerLookUp, rows - start) }, (_, offset) => bodyOf(start + offset));
    const query = bodies.map(({ externalId }) => `externalIds=${externalId}`).join('&');
    const found = await pool.request({ method: 'GET', path: `/v1/contacts?${query}&maxResults=50`, headers });
    await found.body.json();
    await Promise.all(
      bodies.map(async (body) => {
        const reply = await pool.request({ method: 'POST', path: '/v1/contacts', headers, body: JSON.stringify(body) });
        await reply.body.json();
        if (reply.statusCode !== 201) throw new Error(`the service answered ${reply.statusCode}`);
      }),
    );
  };
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < rows) {
      const start = next;
      next += keysPerLookUp;
      await lookUpAndCreate(start);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await pool.close();
}

/** What an import of the row sends. */
function bodyOf(index: number) {
  const [externalId, firstName, lastName, company, role, email, mobile, work] = cellsOfRow(index);
  const e164 = (text = '') => parsePhoneNumberFromString(text, exportCountry)?.number ?? text;
  return {
    externalId,
    source: 'crm',
    defaultFields: {
      ...{ firstName, lastName, company, role },
      emails: email === '' ? [] : [{ name: 'work', value: email }],
      phoneNumbers: [
        { name: 'mobile', value: e164(mobile) },
        { name: 'work', value: e164(work) },
      ],
    },
  };
}
