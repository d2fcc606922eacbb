/** `patchbay map`, as a user types it: look, save, drop, explain, test. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { writeWorkbook } from '#test/support/workbook.ts';

interface Place {
  readonly folder: string;
  /** Writes a file and returns its name. */
  file(name: string, text: string): string;
  call(...args: readonly string[]): ReturnType<typeof callPatchbay>;
}

function openPlace(): Place {
  const folder = tempFolder();
  return {
    folder,
    file: (name, text) => {
      writeFileSync(join(folder, name), text);
      return name;
    },
    call: (...args) => callPatchbay(args, {}, folder),
  };
}

const german = [
  'Kunden-Nr.;Anrede;Vorname;Name;Firma;E-Mail;Telefon;Handy;Fax;Geburtstag',
  '1001;Frau;Ada;Lovelace;Muster GmbH;ada@example.com;030 901820;+49 170 1234567;030 1;10.12.1815',
  '1002;Herr;Bob;Byron;Muster GmbH;bob@example.com;030 901821;;;',
  '1003;Frau;Cleo;Carter;;;030 901822;;;',
  '',
].join('\n');

describe('an export of an unknown layout', () => {
  it('is proposed, saved beside its feed, and imported by what was saved', async () => {
    const place = openPlace();
    const file = place.file('kontakte.csv', german);
    const looked = await place.call('map', file, '--feed', 'crm', '--default-country', 'DE');
    expect(looked.code, looked.stderr).toBe(0);
    expect(looked.stdout).toContain('no known layout: this is a proposal');
    expect(looked.stdout).toMatch(/Handy +\+49 170 1234567 +phone \(mobile\) +certain/);
    expect(looked.stdout).toMatch(/Anrede +Frau +its values are forms of address/);
    expect(looked.stdout).toContain(
      'crm-1001  Ada Lovelace, Muster GmbH  ada@example.com (email)  +4930901820 (phone)',
    );
    expect(looked.stdout).toMatch(/\nnext: patchbay map --feed crm --default-country DE --save kontakte\.csv\n$/);
    expect(existsSync(join(place.folder, 'data'))).toBe(false);

    const next = /next: patchbay (.*)\n$/.exec(looked.stdout)?.[1]?.split(' ') ?? [];
    const saved = await place.call(...next);
    expect(saved.code, saved.stderr).toBe(0);
    expect(saved.stdout).toContain('saved: data/import/crm/_mapping.yaml');
    const then = /next: patchbay (.*)\n$/.exec(saved.stdout)?.[1]?.split(' ') ?? [];
    expect(then).toEqual(['import', '--sandbox', '--feed', 'crm', 'kontakte.csv']);
    const done = await place.call('--json', ...then);
    expect(JSON.parse(done.stdout), done.stderr).toMatchObject({ feed: 'crm', state: 'done', rows: 3, created: 3 });
  });

  it('is what import names in one sentence, and the command that it names works', async () => {
    const place = openPlace();
    const file = place.file('kontakte.csv', german);
    const refused = await place.call('import', '--sandbox', file);
    expect(refused.code).toBe(3);
    const [, command = ''] = /type: patchbay (.*)$/m.exec(refused.output) ?? [];
    expect(command).toMatch(/^map/);
    const looked = await place.call(...command.replaceAll("'", '').split(' '));
    expect([looked.code, looked.stdout], looked.stderr).toEqual([0, expect.stringContaining('this is a proposal')]);
  });

  it('without a feed is saved in the data folder, and named in the import', async () => {
    const place = openPlace();
    const file = place.file('Kontakte 2026.csv', german);
    const saved = await place.call('map', '--sandbox', '--default-country', 'DE', '--save', file);
    expect(saved.stdout).toContain('saved: data/sandbox/mappings/kontakte-2026.yaml');
    expect(saved.stdout).toContain('mapping.file: data/sandbox/mappings/kontakte-2026.yaml');
    expect(saved.stdout).toContain(
      "next: patchbay import --sandbox --mapping data/sandbox/mappings/kontakte-2026.yaml 'Kontakte 2026.csv'",
    );
    const mapping = 'data/sandbox/mappings/kontakte-2026.yaml';
    const done = await place.call('--json', 'import', '--sandbox', '--mapping', mapping, file);
    expect(JSON.parse(done.stdout)).toMatchObject({ state: 'done', created: 3 });
  });

  it('is never saved over another mapping, unless with --force', async () => {
    const place = openPlace();
    const file = place.file('kontakte.csv', german);
    const save = ['map', file, '--save', '--feed', 'crm'];
    expect((await place.call(...save)).code).toBe(0);
    const path = join(place.folder, 'data', 'import', 'crm', '_mapping.yaml');
    writeFileSync(path, '# mine\nname: crm\nkey: Kunden-Nr.\nfields: { firstName: Vorname }\n');
    const refused = await place.call(...save);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('[mappingExists]')]);
    expect(readFileSync(path, 'utf8')).toContain('# mine');
    expect((await place.call(...save, '--force')).code).toBe(0);
    expect(readFileSync(path, 'utf8')).toContain('# Proposed by patchbay map');
  });

  it('keeps the key of the mapping that it replaces, and says it where the key changes', async () => {
    const place = openPlace();
    const file = place.file('kontakte.csv', german);
    expect((await place.call('map', file, '--save', '--feed', 'crm')).code).toBe(0);
    const path = join(place.folder, 'data', 'import', 'crm', '_mapping.yaml');
    const saved = readFileSync(path, 'utf8');
    writeFileSync(path, saved.replace(/^key: .*$/m, 'key: { template: "{Name}/{Handy}" }'));

    const renamed = place.file('neu.csv', german.replace('Telefon;Handy', 'Festnetz;Handy'));
    const looked = await place.call('map', renamed, '--feed', 'crm');
    expect(looked.code, looked.stderr).toBe(0);
    expect(looked.stdout).toContain(
      'the mapping of the feed does not fit: mapping "crm": the file lacks the column "Telefon"',
    );
    expect(looked.stdout).toContain('Correct the mapping: did you mean "Festnetz"?');
    expect(looked.stdout).toContain('this is a proposal');
    expect(looked.stdout).toMatch(/\nnext: patchbay map --feed crm --save --force neu\.csv\n$/);
    const kept = await place.call('map', renamed, '--feed', 'crm', '--save', '--force');
    expect(kept.stdout).not.toContain('the key changes');
    expect(readFileSync(path, 'utf8')).toContain('key: {"template":"{Name}/{Handy}"}');

    const lost = place.file('lost.csv', german.replace('Telefon;Handy', 'Telefon;Mobilnummer'));
    const changed = await place.call('map', lost, '--feed', 'crm', '--save', '--force', '--quiet');
    expect(changed.stdout).toMatch(
      /\nnote: the key changes: it was key: \{"template":"\{Name\}\/\{Handy\}"\}, .* now\. Every/,
    );
    expect(readFileSync(path, 'utf8')).toContain('key: Kunden-Nr.');
  });

  it('is not saved for a name that no feed can have, or against the configuration', async () => {
    const place = openPlace();
    const file = place.file('kontakte.csv', german);
    expect((await place.call('map', file, '--save', '--feed', '_x')).stderr).toContain('[feedRefused]');
    place.file('patchbay.yaml', 'feeds: { crm: { mapping: example-crm } }\n');
    expect((await place.call('map', file, '--save', '--feed', 'crm')).stderr).toContain('[mappingConfigured]');
  });
});

describe('a known layout', () => {
  it('is named: the generic one goes in as it is', async () => {
    const place = openPlace();
    const file = place.file('a.csv', 'externalId,Vorname,Mobile,Notes\n1,Ada,+14155550101,x\n');
    const { stdout } = await place.call('map', file);
    expect(stdout).toContain('generic layout: it can be imported as it is');
    expect(stdout).toMatch(/Mobile +\+14155550101 +phone \(mobile\)/);
    expect(stdout).toContain('note: read as: Vorname → firstName, Mobile → phone (mobile)');
    expect(stdout).toMatch(/\nnext: patchbay import --sandbox a\.csv\n$/);
    const saved = await place.call('map', file, '--save');
    expect([saved.code, saved.stderr]).toEqual([2, expect.stringContaining('[mappingNotNeeded]')]);
  });

  it('names what the generic one does not read, stops where numbers would be wrong, and --save keeps the keys', async () => {
    const place = openPlace();
    const header = 'External ID,Name,Related Company,Job Position,Phone,Country,source';
    const rows = [
      'odoo-1,Pieter van den Berg,Tulp B.V.,Inkoper,020 - 624 11 11,Netherlands,fair',
      'odoo-2,Reto Huber,Huber AG,Einkauf,044 668 18 00,Switzerland,fair',
      'odoo-3,Ute Klein,,,030 901820,,fair',
    ];
    const file = place.file('odoo.csv', [header, ...rows, ''].join('\n'));
    place.file('patchbay.yaml', 'mapping: { defaultCountry: DE }\n');
    const looked = await place.call('map', file, '--feed', 'crm');
    expect(looked.stdout).toContain('generic layout: it is read by the names of its columns');
    expect(looked.stdout).toContain(
      'note: a mapping would also read "Related Company" (company), "Country" (country of phone numbers); --save makes one',
    );
    expect(looked.stdout).toContain('the first import stops before it writes: the column "Country" is not mapped');
    const stopped = await place.call('import', '--sandbox', '--feed', 'crm', file);
    expect(stopped.code, stopped.stderr).toBe(5);
    expect(stopped.stdout).toContain('[guardUnmapped]');
    expect(stopped.stdout).toContain('let patchbay map --sandbox --feed crm --save odoo.csv make a mapping');

    const saved = await place.call('map', '--sandbox', '--feed', 'crm', '--save', file);
    expect(saved.code, saved.stderr).toBe(0);
    const done = await place.call('--json', 'import', '--sandbox', '--feed', 'crm', file);
    expect(JSON.parse(done.stdout), done.stderr).toMatchObject({ state: 'done', rows: 3, created: 3 });
    const contact = async (key: string) => JSON.parse((await place.call('contact', '--sandbox', '--json', key)).stdout);
    expect(JSON.stringify(await contact('odoo-1'))).toContain('+31206241111');
    expect(JSON.stringify(await contact('odoo-1'))).toContain('Tulp B.V.');
    expect(JSON.stringify(await contact('odoo-2'))).toContain('+41446681800');
    expect(JSON.stringify(await contact('odoo-3'))).toContain('+4930901820');
  });

  it('of the feed is used, and --explain follows one row through it', async () => {
    const place = openPlace();
    const folder = join(place.folder, 'data', 'import', 'crm');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, '_mapping.yaml'),
      'name: crm\nkey: Nr\nkeyPrefix: "c-"\nfields: { firstName: Vorname }\nphones: [{ column: Tel, label: work }]\n',
    );
    const file = place.file('a.csv', 'Nr,Vorname,Tel,Notes\n7,Ada,+1 415 555 0101,"two\nlines"\n8,Bob,030 12,\n');
    const first = await place.call('map', file, '--feed', 'crm', '--explain', '2');
    expect(first.stdout).toMatch(/Nr +7 +key +c-7/);
    expect(first.stdout).toMatch(/Tel +\+1 415 555 0101 +phone \(work\) +\+14155550101 \(work\)/);
    expect(first.stdout).toMatch(/Notes +two lines/);
    expect(first.stdout).toContain('contact: c-7  Ada  +14155550101 (work)');
    expect((await place.call('map', file, '--feed', 'crm', '--explain', '3')).stdout).toContain('line 2\n');
    const bad = await place.call('--json', 'map', file, '--feed', 'crm', '--explain', '4');
    expect(JSON.parse(bad.stdout)).toMatchObject({
      line: 4,
      contact: null,
      problems: [{ code: 'phoneCountryMissing', field: 'Tel' }],
      entries: [{ result: 'c-8' }, { result: 'Bob' }, { result: null, problems: [{ code: 'phoneCountryMissing' }] }],
    });
    const none = await place.call('map', file, '--feed', 'crm', '--explain', '9');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('[lineNotFound]')]);
  });

  it('of a preset can be printed and copied out whole', async () => {
    const place = openPlace();
    const { stdout } = await place.call('map', '--mapping', 'example-crm');
    expect(stdout).toContain('name: example-crm');
    const saved = await place.call('map', '--mapping', 'example-crm', '--save', '--feed', 'crm');
    expect(saved.code, saved.stderr).toBe(0);
    expect(readFileSync(join(place.folder, 'data', 'import', 'crm', '_mapping.yaml'), 'utf8').trim()).toBe(
      stdout.trim(),
    );
    expect((await place.call('map', '--mapping', 'hubspt')).stderr).toContain('"hubspot"');
  });
});

describe('records of JSON', () => {
  it('in one line are named as an import names them, and each can be explained', async () => {
    const place = openPlace();
    const people = ['Ada', 'Bob', 7].map((firstName, index) => ({
      externalId: `p${index}`,
      firstName,
      phone: '+14155550101',
    }));
    const file = place.file('line.json', JSON.stringify([...people, { externalId: 'p3', phone: 'call me' }]));
    const { stdout } = await place.call('map', file);
    expect(stdout).toContain('\n  line 1: p0  Ada');
    expect(stdout).toContain('\n  line 1, record 2: p1  Bob');
    expect(stdout).toContain('first at line 1, record 4\n');
    expect((await place.call('map', file, '--explain', '1')).stdout).toMatch(/^line 1, record 1\n[\s\S]*contact: p0 /);
    expect((await place.call('map', file, '--explain', '1, record 2')).stdout).toMatch(
      /^line 1, record 2\n[\s\S]*contact: p1 /,
    );
    const asked = await place.call('map', file, '--explain', '2');
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('4 records begin in line 1')]);
    const [, record = ''] = /--explain "(.*)"/.exec(asked.stderr) ?? [];
    const last = await place.call('--json', 'map', file, '--explain', record);
    expect(JSON.parse(last.stdout)).toMatchObject({
      line: 1,
      record: 4,
      contact: null,
      problems: [{ field: 'phone' }],
    });
  });

  it('that are no objects are counted, with what is wrong with them', async () => {
    const place = openPlace();
    const { stdout } = await place.call('map', place.file('lists.json', '[["id"],["7"]]'));
    expect(stdout).toContain('note: 2 of 2 rows cannot be read: the record is not an object, first at line 1. ');
  });

  const records = [
    { id: 'a9', person: { given: 'Ada', surname: 'Lovelace' }, mails: ['ada@example.com'], vip: true },
    { id: 'b9', person: { given: 'Bob', surname: 'Byron' }, mails: [], vip: null },
  ];

  it('are proposed by paths, and imported by what was saved', async () => {
    const place = openPlace();
    const file = place.file('people.json', JSON.stringify(records));
    const saved = await place.call('map', file, '--save', '--feed', 'app');
    expect(saved.stdout).toMatch(/person\.given +Ada +firstName +certain/);
    const done = await place.call('--json', 'import', '--sandbox', '--feed', 'app', file);
    expect(JSON.parse(done.stdout), done.stderr).toMatchObject({ state: 'done', created: 2 });
    const row = await place.call('map', file, '--feed', 'app', '--explain', '1');
    expect(row.stdout).toMatch(/person\.surname +Lovelace +lastName +Lovelace/);
    expect(row.stdout).toMatch(/vip +true/);
    expect(row.stdout).toContain('contact: app-a9  Ada Lovelace  ada@example.com (email)');
  });

  it('are not saved without a key, and no command is advised that could not work', async () => {
    const place = openPlace();
    const file = place.file('flags.json', '[{"a":1,"vip":true},{"a":1,"vip":false}]');
    const looked = await place.call('map', '--feed', 'f', file);
    expect(looked.stdout).toContain('so no mapping can be proposed');
    expect(looked.stdout).not.toContain('next:');
    for (const flags of [['--save'], ['--explain', '1']]) {
      const refused = await place.call('map', '--feed', 'f', ...flags, file);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('[noMappingProposed]')]);
    }
    expect(existsSync(join(place.folder, 'data', 'import', 'f'))).toBe(false);
  });
});

describe('whole names and derived keys', () => {
  it('are shown step by step, and imported as they were shown', async () => {
    const place = openPlace();
    const file = place.file(
      'people.csv',
      'Name,Company,Mail\n"van Dyke, Ada",Engine AG,Ada@Example.com\n"Byron, Bob",,bob@example.com\n',
    );
    const looked = await place.call('map', file);
    expect(looked.stdout).toContain('note: the key is the e-mail address');
    expect(looked.stdout).toContain('line 2: ada@example.com  Ada van Dyke, Engine AG  Ada@example.com (email)');
    const row = await place.call('map', file, '--explain', '2');
    expect(row.stdout).toMatch(
      /Mail +Ada@Example\.com +emailAddress → Ada@example\.com; lowerCase → ada@example\.com +key +ada@example\.com/,
    );
    expect(row.stdout).toMatch(/Name +van Dyke, Ada +familyName → van Dyke +lastName +van Dyke/);
    // One long cell does not make the whole table as wide as itself.
    const long = place.file('long.csv', `externalId,firstName,role\nc-1,Ada,${'x'.repeat(9_000)}\n`);
    const { stdout } = await place.call('map', long, '--explain', '2');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(1_100);
    const saved = await place.call('map', file, '--save');
    const then = /next: patchbay (.*)\n$/.exec(saved.stdout)?.[1]?.split(' ') ?? [];
    const done = await place.call('--json', ...then);
    expect(JSON.parse(done.stdout), done.stderr).toMatchObject({ state: 'done', created: 2 });
  });
});

describe('a workbook', () => {
  it('is mapped by its sheet', async () => {
    const place = openPlace();
    const file = 'book.xlsx';
    const workbook = writeWorkbook({
      sheets: [
        { name: 'Info', rows: [['x']] },
        {
          name: 'People',
          rows: [
            ['Nr', 'Vorname'],
            ['k17', 'Ada'],
          ],
        },
      ],
    });
    writeFileSync(join(place.folder, file), workbook);
    const { stdout, stderr } = await place.call('map', file, '--sheet', 'People');
    expect(stdout, stderr).toMatch(/Vorname +Ada +firstName/);
    expect(stdout).toContain('--sheet People --save book.xlsx');
  });
});

describe('fixtures of a mapping', () => {
  const mapping = (company: string) =>
    [
      'name: mine\nkey: Id\nfields: { firstName: First, company: Org }\nphones: [{ column: Tel, label: work }]\nfixtures:',
      `  - row: { Id: "7", First: Ada, Org: ACME, Tel: "+1 415 555 0101" }`,
      `    contact: { externalId: "7", firstName: Ada, company: ${company}, phones: [{ name: work, value: "+14155550101" }] }`,
      '  - row: { Id: "", First: Ada, Org: "", Tel: "" }\n    problems: [keyMissing]\n',
    ].join('\n');

  it('pass, or show what differs and end with 3', async () => {
    const place = openPlace();
    const good = await place.call('map', '--test', place.file('good.yaml', mapping('ACME')));
    expect([good.code, good.stdout]).toEqual([0, 'mine: 2 of 2 fixtures pass\n']);
    const bad = await place.call('map', '--test', '--mapping', place.file('bad.yaml', mapping('Other')));
    expect(bad.code).toBe(3);
    expect(bad.stdout).toBe(
      'mine: fixture 1 fails\n  company\n  - expected: "Other"\n  + found:    "ACME"\nmine: 1 of 2 fixtures pass\n',
    );
    const json = await place.call('--json', 'map', '--test', 'bad.yaml');
    expect(JSON.parse(json.stdout)).toMatchObject({ mapping: 'mine', ok: false, exitCode: 3 });
  });
});

describe('files that cannot be mapped', () => {
  it.each([
    ['a web page', 'a.csv', '<!DOCTYPE html><html><body>Log in</body></html>\n', 3, ''],
    ['no header', 'b.csv', '1001,Ada,+14155550101\n1002,Bob,+14155550102\n', 3, '[headerMissing]'],
    ['no file', 'none.csv', null, 3, '[fileMissing]'],
    ['a name of no format', 'c.pages', 'x', 3, '[formatUnknown]'],
  ])('%s: the same error as import', async (_, name, text, code, expected) => {
    const place = openPlace();
    if (text !== null) place.file(name, text);
    const looked = await place.call('map', name);
    expect([looked.code, looked.stdout]).toEqual([code, '']);
    expect(looked.stderr).toContain(expected);
    if (name === 'b.csv') {
      expect(looked.stderr).toContain('such as: externalId,…,phone'.replace('…', 'lastName'));
      expect(looked.stderr).not.toContain('4155550101');
    } else {
      const imported = await place.call('import', '--sandbox', name);
      const codeOf = (output: string) => /\[(\w+)\]/.exec(output)?.[1] ?? null;
      expect(imported.output).toContain(codeOf(looked.stderr) ?? '?');
    }
  });

  it('an empty file has nothing to map', async () => {
    const place = openPlace();
    const { code, stdout } = await place.call('map', place.file('a.csv', ''));
    expect([code, stdout]).toEqual([0, expect.stringContaining('the file contains no rows')]);
    expect(stdout).not.toContain('next:');
  });

  it('and calls that mean nothing', async () => {
    const place = openPlace();
    expect((await place.call('map')).stderr).toContain('[mapNeedsFile]');
    expect((await place.call('map', 'a.csv', '--save', '--test')).stderr).toContain('[mapOptionsClash]');
    expect((await place.call('map', 'a.csv', '--explain', '0')).code).toBe(2);
  });
});

describe('for scripts', () => {
  it('--json is one document; --no-values leaves out what is in the file', async () => {
    const place = openPlace();
    const file = place.file('kontakte.csv', german);
    const { stdout } = await place.call('--json', 'map', file, '--default-country', 'DE');
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({
      ...{
        file: 'kontakte.csv',
        rows: 3,
        layout: { kind: 'draft' },
        mapping: { name: 'kontakte' },
        saved: null,
        exitCode: 0,
      },
      preview: { rejected: 0, contacts: [{ line: 2, contact: { externalId: '1001', firstName: 'Ada' } }, {}, {}] },
      next: 'patchbay map --default-country DE --save kontakte.csv',
    });
    expect(document.columns[0]).toEqual({
      column: 'Kunden-Nr.',
      target: 'key',
      example: '1001',
      confidence: 'certain',
      reason: expect.any(String),
    });
    for (const flags of [['--no-values'], ['--no-values', '--json']]) {
      const hidden = await place.call(...flags, 'map', file, '--default-country', 'DE');
      expect(hidden.stdout).not.toMatch(/Lovelace|901820|example\.com/);
      const row = await place.call(...flags, 'map', file, '--default-country', 'DE', '--explain', '2');
      expect(row.stdout).not.toMatch(/Lovelace|901820|example\.com/);
    }
  });
});

describe('rows that cannot be read', () => {
  it('are counted as the import rejects them, in a known layout and in a proposal', async () => {
    const files = {
      'short.csv': 'externalId,firstName,lastName,phone\n1,A,B,+14155550101\n2,C\n3,"D"x,E,+14155550102\n',
      'control.csv': 'externalId,firstName\n1,a\u0001b\n2,c\n3,d\u0002\n',
      'broken.ndjson': '{"externalId":"1","firstName":"A"}\n{"externalId":"2",\n{"externalId":"3","firstName":7e999}\n',
    };
    const place = openPlace();
    for (const [name, text] of Object.entries(files)) {
      place.file(name, text);
      const { stdout } = await place.call('map', name);
      expect(stdout).toContain(`${name}: 3 rows, `);
      expect(stdout).toContain('of the first 3 rows, 2 would be rejected:');
      const done = await place.call('--json', 'import', '--sandbox', name);
      expect(JSON.parse(done.stdout)).toMatchObject({ rows: 3, dead: 2 });
    }
    const draft = place.file('unknown.csv', 'Kundennr;Vorname;Nachname\n1;Ada;Lovelace\n2;Bob\n');
    const [document] = [JSON.parse((await place.call('--json', 'map', draft)).stdout)];
    expect(document).toMatchObject({
      rows: 2,
      preview: { rows: 2, rejected: 1, problems: [{ count: 1, first: { code: 'cellCount', line: 3 } }] },
    });
  });

  it('of a footer that the mapping leaves out are not counted', async () => {
    const place = openPlace();
    place.file('k.yaml', 'name: k\nkey: Id\nfields: { firstName: Name }\nskipRows: [{ beginsWith: Copyright }]\n');
    const file = place.file('k.csv', 'Id,Name\n1,Ann\nCopyright (c) 2026\n');
    const { stdout } = await place.call('map', '--mapping', 'k.yaml', file);
    expect(stdout).toContain('the row can be imported');
    expect(stdout).toContain('note: skipped 1 row: footer or total of the export (line 3)');
  });
});

describe('a row that the mapping leaves out', () => {
  it('is shown as left out, as the import skips it, also where a value in it is wrong', async () => {
    const place = openPlace();
    const phones = 'phones: [{ column: Tel, skip: { column: Kind, equals: Fax } }]';
    place.file(
      'k.yaml',
      `name: k\nkey: Id\nfields: { firstName: Name }\n${phones}\nkeepRows: [{ column: Status, equals: active }]\n`,
    );
    const file = place.file('k.csv', 'Id,Name,Status,Tel,Kind\n1,Ann,active,+14155550101,\n2,Bo,left,call Bo,\n');
    const looked = await place.call('map', '--mapping', 'k.yaml', file);
    expect(looked.stdout).toMatch(/Status +active +which rows are read/);
    expect(looked.stdout).not.toMatch(/left out +example/);
    const left = await place.call('map', '--mapping', 'k.yaml', '--explain', '3', file);
    expect(left.stdout).toMatch(/Status +left +which rows are read +left out\n/);
    expect(left.stdout).toContain('left out, as in an import: Status is not "active"');
    expect(left.stdout).not.toMatch(/contact:|rejected:|Bo/);
    const [document] = [
      JSON.parse((await place.call('--json', 'map', '--mapping', 'k.yaml', '--explain', '3', file)).stdout),
    ];
    expect(document).toMatchObject({ contact: null, problems: [], skipped: 'Status is not "active"' });
    const kept = await place.call('map', '--mapping', 'k.yaml', '--explain', '2', file);
    expect(kept.stdout).toMatch(/Status +active +which rows are read +read\n/);
    expect(kept.stdout).toContain('contact: 1  Ann  +14155550101 (phone)');
    const done = await place.call('import', '--sandbox', '--mapping', 'k.yaml', file);
    expect(done.stdout).toContain('note: skipped 1 row: Status is not "active" (line 3)');
  });
});

describe('what a person says about the file itself', () => {
  const japanese = Buffer.from(
    '8cda8b7194d48d862c96bc2c90a90a313030312c91be98592c8e5293630a313030322c89d48e712c97e996d80a',
    'hex',
  );

  it('is in the mapping that is saved: a file that is dropped, too, is read by it', async () => {
    const place = openPlace();
    writeFileSync(join(place.folder, 'jp.csv'), japanese);
    const saved = await place.call('map', '--encoding', 'shift_jis', '--feed', 'jp', '--save', 'jp.csv');
    expect(saved.stdout).toContain('(files of feed jp are read by it from now on)');
    const path = join(place.folder, 'data', 'import', 'jp', '_mapping.yaml');
    const text = readFileSync(path, 'utf8');
    expect(text).toMatch(/^encoding: shift_jis$/m);
    writeFileSync(path, 'name: jp\nencoding: shift_jis\nkey: 顧客番号\nfields: { firstName: 名, lastName: 姓 }\n');
    // Nothing of it is mapped yet: a person completes it.
    expect(saved.stdout).not.toContain('next:');
    const done = await place.call('--json', 'import', '--sandbox', '--feed', 'jp', 'jp.csv');
    expect(JSON.parse(done.stdout)).toMatchObject({ state: 'done', created: 2 });
    const looked = await place.call('map', '--feed', 'jp', 'jp.csv');
    expect(looked.stdout).toContain('1001  太郎 山田');
    const utf8 = place.file('utf8.csv', '顧客番号,名,姓\n1001,太郎,山田\n');
    expect((await place.call('map', '--feed', 'jp', utf8)).stdout).toContain('1001  太郎 山田');
  });

  it('is kept of an unusual delimiter, also in a copy of a preset', async () => {
    const place = openPlace();
    const file = place.file('a.csv', 'Kundennr~Vorname\n1~Ada\n');
    const saved = await place.call('map', '--delimiter', '~', '--feed', 'crm', '--save', file);
    const then = /next: patchbay (.*)\n$/.exec(saved.stdout)?.[1]?.split(' ') ?? [];
    expect(then).toEqual(['import', '--sandbox', '--feed', 'crm', 'a.csv']);
    expect(JSON.parse((await place.call('--json', ...then)).stdout)).toMatchObject({ state: 'done', created: 1 });
    const hubspot = place.file('h.csv', 'Record ID~First Name~Email\n7~Ada~ada@example.com\n');
    const copy = await place.call('map', '--delimiter', '~', '--encoding', 'utf-8', '--feed', 'hub', '--save', hubspot);
    expect(copy.stdout).toContain('recognised as HubSpot contacts');
    const next = /next: patchbay (.*)\n$/.exec(copy.stdout)?.[1]?.split(' ') ?? [];
    expect(next).not.toContain('--delimiter');
    expect(JSON.parse((await place.call('--json', ...next)).stdout)).toMatchObject({ state: 'done', created: 1 });
  });
});

describe('a line that is no row', () => {
  it('of totals, or above the header, is explained as what it is', async () => {
    const place = openPlace();
    const file = place.file('t.csv', 'Export of today\nexternalId,firstName\n1,Ann\n2,Bo\nTotal,2\n3,Cy\n');
    const total = await place.call('map', '--explain', '5', file);
    expect([total.code, total.stdout]).toEqual([0, 'line 5\n\nleft out, as in an import: it holds totals\n']);
    expect((await place.call('map', '--explain', '1', file)).stdout).toContain('it is above the header');
    expect((await place.call('map', '--explain', '6', file)).stdout).toContain('contact: 3  Cy');
    const beyond = await place.call('map', '--explain', '7', file);
    expect([beyond.code, beyond.stderr]).toEqual([2, expect.stringContaining('The last row begins at line 6.')]);
  });
});

describe('rows that hold nothing but a key', () => {
  const text = 'Kundennr;Vorname;Telefon\nK1;Ada;+14155550101\nLieferanten;;\nK2;Bob;+14155550102\n';

  it('are counted as the import rejects them, with their key', async () => {
    const place = openPlace();
    const file = place.file('k.csv', text);
    const saved = await place.call('map', '--feed', 'k', '--save', file);
    expect(saved.stdout).toContain('line 3: rejected: the row holds nothing but its key');
    expect(saved.stdout).toContain('of the first 3 rows, 1 would be rejected:');
    const explained = await place.call('map', '--feed', 'k', '--explain', '3', file);
    expect(explained.stdout).toContain('rejected: the row holds nothing but its key');
    const done = await place.call('--json', 'import', '--sandbox', '--feed', 'k', file);
    expect(JSON.parse(done.stdout)).toMatchObject({
      ...{ created: 2, dead: 1 },
      problems: [{ code: 'contactEmpty', line: 3, value: 'k-Lieferanten' }],
    });
  });
});

describe('columns that stop the first import', () => {
  const rows = '|Kunde|Name 1|Name 2|Mobil|E-Mail|\n|100001|Müller GmbH|Jörg|+14155550101|j@example.de|\n';

  it('are named in a proposal, which does not say that all can be imported; ignored as it says, they stop nothing', async () => {
    const place = openPlace();
    const file = place.file('sap.txt', rows);
    const saved = await place.call('map', '--feed', 'sap', '--save', file);
    expect(saved.stdout).toContain('the row is not rejected\nthe first import stops before it writes');
    expect(saved.stdout).not.toContain('can be imported');
    const stopped = await place.call('import', '--sandbox', '--feed', 'sap', file);
    expect([stopped.code, stopped.stdout]).toEqual([5, expect.stringContaining('[guardUnmapped]')]);
    const [, ignore = ''] = /leave out the rest with (ignore: .*)\n/.exec(saved.stdout) ?? [];
    const path = join(place.folder, 'data', 'import', 'sap', '_mapping.yaml');
    writeFileSync(path, `${readFileSync(path, 'utf8')}${ignore}\n`);
    expect((await place.call('map', '--feed', 'sap', file)).stdout).toContain('\nthe row can be imported\n');
    expect((await place.call('import', '--sandbox', '--feed', 'sap', file)).code).toBe(0);
  });

  it('are no columns where the mapping maps nothing: it says that an import refuses the file', async () => {
    const place = openPlace();
    const file = place.file('jp.csv', '顧客番号,名\n1001,太郎\n1002,花子\n');
    const { stdout } = await place.call('map', '--feed', 'jp', '--save', file);
    expect(stdout).toContain('an import refuses this file: mapping "jp" maps nothing of this file but the key');
    expect(stdout).not.toMatch(/can be imported|next:/);
    const refused = await place.call('import', '--sandbox', '--feed', 'jp', file);
    expect(refused.stdout).toContain('[nothingMapped]');
    const lacking = place.file('a.ndjson', '{"id":"1","name":"Ada"}\n{"id":"2","name":"Bob"}\n');
    place.file('m.yaml', 'name: m\nkey: id\nfields: { firstName: first, lastName: name }\n');
    const looked = await place.call('map', '--mapping', 'm.yaml', lacking);
    expect(looked.stdout).toContain('an import refuses this file: mapping "m"');
  });

  it('are named in the generic layout, too, and are null in JSON where there are none', async () => {
    const place = openPlace();
    const header = 'externalId,firstName,Telefon Empfang';
    const file = place.file('a.csv', `${header}\n1,Ada,+14155550101\n`);
    const { stdout } = await place.call('--json', 'map', file);
    expect(JSON.parse(stdout).stop).toContain('nothing maps the column "Telefon Empfang", whose name suggests contact');
    const blank = place.file('b.csv', `${header}\n1,Ada,\n`);
    expect(JSON.parse((await place.call('--json', 'map', blank)).stdout).stop).toBeNull();
  });
});
