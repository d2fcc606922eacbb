/** Files that are no export at all (`docs/bad-inputs.md`, "Files and folders"). */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { dataOf, errorOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const failed = (name: string, content: string | Uint8Array) => errorOf(readText(folder, name, content));
const login = '<!DOCTYPE html>\n<html><head><title>\n Log in | CRM</title></head><body><form>…</form></body></html>\n';

describe('a web page', () => {
  it.each([
    ['saved as CSV', 'contacts.csv', login],
    ['saved as JSON', 'contacts.json', login],
    ['with a mark, comments and spaces before it', 'contacts.csv', `\ufeff\n <!-- a --><!-- b -->\n${login}`],
    ['in UTF-16', 'contacts.csv', Buffer.from(`\ufeff${login}`, 'utf16le')],
    ['in Windows-1252', 'contacts.csv', Buffer.from(login.replace('…', 'é'), 'latin1')],
    ['packed', 'contacts.csv.gz', gzipSync(login)],
    ['of XHTML', 'contacts.csv', `<?xml version="1.0"?>\n${login}`],
  ])('%s is called that', async (_name, file, content) => {
    expect(await failed(file, content)).toMatchObject({
      kind: 'file',
      code: 'webPage',
      message: `${file} is a web page (HTML) with the title "Log in | CRM", not an export: it was probably saved from a login page`,
      hint: expect.stringContaining('Log in, export the file again'),
    });
  });

  it.each([
    '<html>',
    '<table border=1><tr><td>externalId</td></tr></table>',
    '<HTML lang=de>',
    'MIME-Version: 1.0\r\n',
  ])('is recognised by %j', async (content) => {
    expect((await failed('contacts.csv', content)).code).toBe('webPage');
  });
});

describe('other documents', () => {
  it.each([
    ['{\\rtf1\\ansi externalId,name}', 'richText'],
    ['<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', 'xmlDocument'],
    ['<Error><Code>AccessDenied</Code></Error>', 'xmlDocument'],
    ['[{"externalId":"1"}]', 'jsonNotTable'],
    ['{"contacts":[{"id":1}]}', 'jsonNotTable'],
    ['{"id":1}\n{"id":2}\n', 'jsonNotTable'],
    ['[]', 'jsonNotTable'],
  ])('the table %j is refused as %s', async (content, code) => {
    expect(await failed('contacts.csv', content)).toMatchObject({ kind: 'file', code });
  });

  const phoneBook = '<?xml version="1.0"?>\r\n<phonebooks><phonebook><contact/></phonebook></phonebooks>';
  it.each([
    [phoneBook, 'xmlDocument', 'is the phone book of a FRITZ!Box (XML)', 'Convert it to vCards (.vcf) or CSV'],
    [
      '<?xml version="1.0"?><vcards xmlns="x"><vcard/></vcards>',
      'xmlDocument',
      '(xCard)',
      'Export the people as vCards',
    ],
    [
      'dn: cn=Ada,mail=a@example.com\r\nobjectclass: top\r\n',
      'ldif',
      'is an address book in LDIF',
      'Thunderbird exports',
    ],
    ['version: 1\n\n# Ada\ndn:: Y249\n QWRh\nmail: a@example.com\n', 'ldif', 'LDIF', 'vCard (.vcf)'],
    ['["vcard",[["fn",{},"text","Ada"]]]', 'jCard', 'holds vCards in JSON (jCard)', 'Export the people as vCards'],
    ['[\n ["vcard", []],\n ["vcard", []]\n]', 'jCard', 'jCard', 'vCards (.vcf) or CSV'],
    // In time that grows with them alone: each further line once doubled it.
    [`${'#\r\n'.repeat(2_000)}${'\r\n'.repeat(2_000)}dn: cn=Ada\r\nmail: a@example.com\r\n`, 'ldif', 'LDIF', 'vCard'],
  ])('the address book %.60j is called what it is (%s), whatever its ending', async (content, code, what, hint) => {
    for (const ending of ['vcf', 'csv', 'json'])
      expect(await failed(`book.${ending}`, content)).toMatchObject({
        ...{ kind: 'file', code, message: expect.stringContaining(what), hint: expect.stringContaining(hint) },
      });
  });

  it('names the way out of endings of address books', async () => {
    for (const [name, hint] of [
      ['book.ldif', 'Thunderbird exports address books as vCard (.vcf)'],
      ['book.xml', 'Export it as CSV or JSON, or people of an address book as vCards'],
    ] as const)
      expect((await failed(name, 'x')).hint).toContain(hint);
  });

  it.each([
    ['{"error":"unauthorized"}', 'unauthorized'],
    ['{"error":"invalid_grant","error_description":"The token has expired"}', 'The token has expired'],
    ['{"error":{"code":401,"message":"Log in first","details":[]},"data":null}', 'Log in first'],
    ['{"status":"error","message":"Limit exceeded","correlationId":"a1"}', 'Limit exceeded'],
    ['{"errors":[{"message":"No such view"}]}', 'No such view'],
  ])('the error message %s is shown, as CSV and as JSON', async (content, said) => {
    for (const name of ['contacts.csv', 'contacts.json', 'contacts.ndjson']) {
      expect(await failed(name, `${content}\n`)).toMatchObject({
        code: 'errorDocument',
        message: `${name} holds an error message, not an export: "${said}"`,
      });
    }
  });
});

it.each([
  ['<id>,<name>\n1,Ann\n', ['1', 'Ann']],
  ['"{id}",name\n1,Ann\n', ['1', 'Ann']],
  ['[id],name\n1,Ann\n', ['1', 'Ann']],
  ['{"id","name"\n1,Ann\n', ['1', 'Ann']],
  ['error,message\nno,Ann\n', ['no', 'Ann']],
  ['title,html\nDr,<html>\n', ['Dr', '<html>']],
])('the table %j is read as one', async (content, cells) => {
  expect(dataOf((await readText(folder, 'contacts.csv', content)).items)).toEqual([cells]);
});
