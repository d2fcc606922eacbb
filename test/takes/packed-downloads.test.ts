/** Workbooks and archives from a URL are judged where they are unpacked, as in the import folder. */
import { expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { configSchema } from '#src/config/schema.ts';
import { sends, startFileServer } from './support/file-server.ts';
import { openTakesBench } from './support/takes-bench.ts';

/** The first entry as a spreadsheet program writes it: with room for more, which is filled with NULs. */
const padded = Buffer.concat([
  Buffer.from('PK\u0003\u0004\u0014\0\u0006\0\b\0\0\0!\0'),
  Buffer.alloc(600),
  Buffer.from('[Content_Types].xml'),
]);

it.each([
  ['application/octet-stream', 'crm.xlsx'],
  ['application/zip', 'crm.zip'],
  ['application/vnd.ms-excel.sheet.macroEnabled.12', 'crm.xlsm'],
])('an archive that begins with NULs goes in as %s', async (type, fileName) => {
  const server = await startFileServer({ answer: sends(padded, { 'content-type': type }) });
  const local = { ...configSchema.parse({}).download, privateAddresses: true };
  const bench = await openTakesBench({ clock: systemClock(), download: local });
  expect(await bench.take(`${server.origin}/export`)).toMatchObject({ outcome: 'run' });
  expect(await bench.runs()).toMatchObject([{ fileName }]);
});
