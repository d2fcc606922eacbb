/** An export whose program ended with an error, which is its last lines (`docs/bad-inputs.md`, "Files and folders"). */
import { expect, it } from 'vitest';
import { headerRule } from '#src/mapping/recognise.ts';
import { dataOf, errorOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const rows = 'externalId,firstName,role\nc-1,Ann,A\nc-2,Bea,B\n';
const read = (content: string) => readText(folder, 'crm.csv', content, { header: headerRule(null) });

it.each([
  [
    'Maximum execution time of 30 seconds exceeded',
    '<br />\n<b>Fatal error</b>:  Maximum execution time of 30 seconds exceeded in <b>/var/www/export.php</b> on line <b>42</b><br />\n',
    5,
  ],
  [
    'Allowed memory size of 134217728 bytes exhausted',
    'PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes) in /var/www/export.php on line 7\n',
    4,
  ],
  [
    'Uncaught Exception: no, more',
    '\nFatal error: Uncaught Exception: no, more in /var/www/export.php:12\nStack trace:\n#0 {main}\n  thrown in /var/www/export.php on line 12\n',
    5,
  ],
])('a table that ends with a fatal error is refused, which is quoted: %s', async (said, end, line) => {
  const error = await errorOf(read(`${rows}${end}`));
  expect(error).toMatchObject({ kind: 'file', code: 'exportBrokeOff', facts: { line } });
  expect(error.message).toContain(said);
  expect(error.message).not.toContain('<');
});

it.each([
  '<b>Warning</b>:  Undefined index in <b>/x.php</b> on line <b>3</b><br />',
  'c-3,Fatal error,in the role',
  'Fatal error: none,Cy,C',
])('a row is read as any other: %s', async (row) => {
  const { items } = await read(`${rows}${row}\nc-9,Zoe,Z\n`);
  expect(dataOf(items.slice(-1))).toEqual([['c-9', 'Zoe', 'Z']]);
});
