import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mappingVersion } from '#src/mapping/compile-mapping.ts';
import { loadMapping } from '#src/mapping/load-mapping.ts';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { checkCountry } from '#src/mapping/phone-cell.ts';
import { checkSourceLabel } from '#src/mapping/source-label.ts';

function mistakes(text: string): readonly string[] {
  try {
    parseMapping(text, 'm.yaml');
  } catch (error) {
    if (error instanceof Error) return error.message.split('\n');
  }
  return [];
}

describe('a mapping file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mapping-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('is loaded with its defaults filled in', async () => {
    const file = join(folder, 'm.yaml');
    await writeFile(
      file,
      'name: crm\nkey: Contact ID\nfields: { firstName: First Name }\nphones: [{ column: Tel, country: at }]\n',
    );
    expect(await loadMapping(file)).toEqual({
      name: 'crm',
      key: 'Contact ID',
      onBlank: 'keep',
      duplicateKeys: 'dead',
      fields: { firstName: { column: 'First Name' } },
      emails: [],
      phones: [{ column: 'Tel', label: 'phone', country: 'AT' }],
      customFields: [],
    });
  });

  test('that is not there, or is no text, is named', async () => {
    await expect(loadMapping(join(folder, 'no.yaml'))).rejects.toMatchObject({
      kind: 'usage',
      code: 'mappingNotFound',
    });
    await writeFile(join(folder, 'bin.yaml'), Buffer.from([0xff, 0xfe, 0x00, 0xd8]));
    await expect(loadMapping(join(folder, 'bin.yaml'))).rejects.toMatchObject({ code: 'mappingUnreadable' });
    await writeFile(join(folder, 'big.yaml'), ' '.repeat(1_100_000));
    await expect(loadMapping(join(folder, 'big.yaml'))).rejects.toMatchObject({ code: 'mappingUnreadable' });
  });

  test('is a regular file of at most 1 MB: a device, a pipe and a folder are refused at once', async () => {
    const pipe = join(folder, 'pipe.yaml');
    execFileSync('mkfifo', [pipe]);
    for (const [path, why] of [
      ['/dev/zero', 'the file is not a regular file'],
      [pipe, 'the file is not a regular file'],
      [folder, 'the file is a folder'],
    ] as const) {
      await expect(loadMapping(path)).rejects.toMatchObject({
        ...{ kind: 'usage', code: 'mappingUnreadable', message: `${path}: ${why}` },
      });
    }
  });

  test('may be a link where its author named it, and must be the file itself in an import folder', async () => {
    const link = join(folder, '_mapping.yaml');
    await writeFile(join(folder, 'm.yaml'), 'name: crm\nkey: id\nfields: { company: Firm }\n');
    await symlink(join(folder, 'm.yaml'), link);
    expect(await loadMapping(link)).toMatchObject({ name: 'crm' });
    await expect(loadMapping(link, { followLinks: false })).rejects.toMatchObject({
      ...{ code: 'mappingUnreadable', message: `${link}: the file is a link; put the file itself there` },
    });
  });
});

describe('mistakes in a mapping are named as file:line:column: message', () => {
  test('an unknown key, with a suggestion', () => {
    expect(mistakes('name: a\nkey: id\nfields:\n  fristName: X\nemials: []\nzzz: 1\n')).toEqual([
      'm.yaml:4:3: unknown key "fristName" in fields; did you mean "firstName"?',
      'm.yaml:5:1: unknown key "emials"; did you mean "emails"?',
      expect.stringMatching(/^m\.yaml:6:1: unknown key "zzz"; known here: name, key, /),
    ]);
  });

  test('an unknown key deep inside, also __proto__', () => {
    expect(
      mistakes(
        'name: a\nkey: id\nphones:\n  - { column: T, lable: x }\nfields: { role: { column: R, onblank: keep } }\n',
      ),
    ).toEqual([
      'm.yaml:4:18: unknown key "lable" in phones[1]; did you mean "label"?',
      'm.yaml:5:30: unknown key "onblank" in fields.role; did you mean "onBlank"?',
    ]);
    expect(mistakes('name: a\nkey: id\n__proto__: { x: 1 }\n')).toEqual([
      expect.stringContaining('m.yaml:3:1: unknown key "__proto__"'),
    ]);
  });

  test('what is missing', () => {
    expect(mistakes('name: a\n')).toEqual(['m.yaml:1:1: "key" is missing']);
    expect(mistakes('name: a\nkey: id\nemails:\n  - label: x\n')).toEqual([
      'm.yaml:4:5: emails[1]: a value needs one of column, firstOf, join, template or constant',
    ]);
    expect(mistakes('')).toHaveLength(1);
  });

  test('a policy that is none', () => {
    expect(mistakes('name: a\nkey: id\nfields: { role: { column: R, policy: theirs } }\n')).toEqual([
      'm.yaml:3:38: fields.role.policy: write shared, source, fill, seed or app',
    ]);
    for (const policy of ['shared', 'source', 'fill', 'seed', 'app']) {
      expect(mistakes(`name: a\nkey: id\nfields: { role: { column: R, policy: ${policy} } }\n`)).toEqual([]);
    }
    expect(mistakes('name: a\nkey: id\nitems: { phones: some }\n')).toEqual([
      'm.yaml:3:18: items.phones: write owned, all or none',
    ]);
    expect(mistakes('name: a\nkey: id\nphones: [{ column: P, policy: fill }]\n')).toEqual([
      'm.yaml:3:31: phones[1].policy: e-mails and phones have one policy for the whole list: items: { emails: all, phones: none }, beside emails and phones',
    ]);
  });

  test('a country that is none, a reserved source, a bad name', () => {
    expect(mistakes('name: "a b"\nkey: id\ndefaultCountry: UK\nsource: csv-1\n')).toEqual([
      expect.stringMatching(/^m\.yaml:1:7: name: /),
      expect.stringMatching(/^m\.yaml:3:17: defaultCountry: not a country code/),
      expect.stringMatching(/^m\.yaml:4:9: source: the service reserves/),
    ]);
  });

  test('a column or custom key that stands twice in a list', () => {
    expect(
      mistakes(
        'name: a\nkey: id\nemails: [{ column: E-Mail }, { column: email }]\ncustomFields: [{ column: A, key: k }, { column: B, key: k }]\n',
      ),
    ).toEqual([
      'm.yaml:3:40: emails[2].column: "email" occurs twice in this list',
      expect.stringContaining('customFields[2].key: "k" occurs twice'),
    ]);
  });

  test('a position that is none, or stands twice', () => {
    const wanted = 'a column is its header, or as a number its position, from 1 to 500';
    expect(mistakes('name: a\nkey: 0\nfields: { role: 2.5, company: { column: true } }\n')).toEqual([
      `m.yaml:2:6: key: ${wanted}`,
      `m.yaml:3:17: fields.role: ${wanted}`,
      `m.yaml:3:41: fields.company.column: ${wanted}`,
    ]);
    expect(mistakes('name: a\nkey: id\nphones: [{ column: 4 }, { column: 501 }]\n')).toEqual([
      `m.yaml:3:35: phones[2].column: ${wanted}`,
    ]);
    expect(mistakes('name: a\nkey: id\nphones: [{ column: 4 }, { column: 4 }]\n')).toEqual([
      'm.yaml:3:35: phones[2].column: "4" occurs twice in this list',
    ]);
    expect(mistakes('name: a\nkey: id\nphones: [{ position: 4 }]\n')).toEqual([
      'm.yaml:3:10: phones[1]: a value needs one of column, firstOf, join, template or constant',
      expect.stringMatching(/^m\.yaml:3:12: unknown key "position" in phones\[1\]; /),
    ]);
  });

  test('YAML that is none, a key given twice, too many aliases', () => {
    expect(mistakes('name: [a\nkey: id')[0]).toMatch(/^m\.yaml:\d+:\d+: /);
    expect(mistakes('name: a\nname: b\nkey: id\n')[0]).toMatch(/^m\.yaml:2:1: /);
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdef'
      .split('')
      .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcde'[index]}`).join(',')}]`)
      .join('\n')}\n`;
    expect(mistakes(bomb)[0]).toMatch(/alias/i);
  });

  test('a country such as NO stays a text', () => {
    expect(parseMapping('name: a\nkey: id\ndefaultCountry: NO\n', 'm.yaml').defaultCountry).toBe('NO');
  });
});

describe('configuration outside the mapping', () => {
  test('a source label is checked where it is configured', () => {
    expect(checkSourceLabel(' crm ')).toBe('crm');
    expect(() => checkSourceLabel('CSV')).toThrow(expect.objectContaining({ kind: 'usage', code: 'sourceRefused' }));
    expect(() => checkSourceLabel('')).toThrow(expect.objectContaining({ code: 'sourceRefused' }));
  });

  test('a default country is checked where it is given', () => {
    expect(checkCountry('de')).toBe('DE');
    expect(() => checkCountry('Germany')).toThrow(expect.objectContaining({ kind: 'usage', code: 'countryUnknown' }));
  });
});

test('the version of a mapping does not depend on the order of its keys, and changes with its content', () => {
  const one = parseMapping('name: a\nkey: id\nonBlank: keep\n', 'm.yaml');
  const same = parseMapping('key: id\nname: a\n', 'm.yaml');
  const other = parseMapping('key: id\nname: a\nonBlank: clear\n', 'm.yaml');
  expect(mappingVersion(one)).toBe(mappingVersion(same));
  expect(mappingVersion(one)).not.toBe(mappingVersion(other));
  expect(mappingVersion(null)).toMatch(/^[0-9a-f]{16}$/);
});
