/**
 * What the label of a number says of a fax, or of another machine that cannot be called, is read alike wherever it stands: in JSON, in a vCard, and beside the number in a cell
 * (`docs/mapping.md`, "What a cell means").
 */
import { describe, expect, test } from 'vitest';
import { machineIn } from '#src/sources/number-words.ts';
import { dataOf, readText, useTempFolder } from '#test/sources/temp-files.ts';
import { presetNamed } from './presets/support.ts';
import { codesOf, desiredOf, mapJson, mapping, mapRecord, warningsOf } from './support.ts';

const folder = useTempFolder();
const number = '+14155550101';

/** Labels separated by line breaks and commas. */
const table = (text: string): readonly string[] => text.trim().split(/\s*(?:\n|, )\s*/);

const takesCalls = table(`
  Teléfono o Fax, Tel. u. Fax, Tel.u.Fax, Telefon bzw. Fax, Telefono e fax, Telefon i faks, Telefon og fax, Telefon és fax
  Fon/Fax, Voice/Fax, Ph/Fax, Fax/Ph., Cellular/Fax, Landline/Fax, Hotline/Fax, Zentrale/Fax, Fax/Zentrale, Telefone/Fax
  Tel.-Fax, TelFax, Telfax, Tel.Fax, Teléfono-Fax, Phone-Fax, Phone - Fax, Phone – Fax, Phone (Fax), Tel. [Telefax], Fax (also phone)
  Phone/Fax, fax/phone, Tel. + Fax, Fax oder Telefon, Mobil & Telefax, Telefon Empfang/Fax, Tel. Empfang/Fax, Telefon mit Fax
  Telefon-/Faxnummer, Phone/Home-Fax, Phone／Fax, TEL・FAX, 電話/FAX, 電話・ファックス, 電話（FAX）, 電話兼FAX, 电话/传真, 전화/팩스
  тел/факс, тел.-факс, Телефон и факс, тел. (факс), Phone/Pager, Telefon/Telex`);

const mayTakeCalls = table(`
  Büro/Fax, Home/Fax, privat/Fax, Work/Fax, Zuhause/Fax, Home & Fax, Büro + Fax, Büro und Fax, Sekretariat/Fax, 会社/FAX, Fax & Home
  Work and Home Fax, kein Fax, keine Faxnummer, no fax, nofax, No-Fax, not a fax, pas de fax, ohne Fax, не факс, auch Fax, und Fax, & Fax, mit Fax, also fax`);

const isOfAMachine = table(`
  Fax, fax, Telefax Büro, Work Fax, homeFax, workfax, faxNumber, Fax/Home, Fax - privat, Fax (Büro), Büro (Fax)
  Bestellfax, Rechnungsfax, Servicefax, Orderfax, salesfax, billingfax, hqfax, Zweitfax, Dienstfax, Telefaxnummer, Dienstfaxnummer
  Faxnummern, Faxline, Faxszám, Faxové číslo, Faxweiche, Faxanschluss, faxes, Faks, faksi, Faks numarası, Telefaks, Faxonline
  Telefon Fax, Phone HomeFax, phone_fax, Telefon (Dienstfax), Phone - Work Fax, Phone - eFax, Phone - E-Fax, Fax-Durchwahl
  Fax-Telefonnummer, Printerfax, Druckerfax, Centerfax, Fairfax Fax, Halifaxfax, Télécopie, ファックス, 传真, Факс, телефакс, рабочий факс
  Telex, телекс, TTY/TDD Phone, Téléphone ATS/TTY, No. Fax, Fax No., Fax u. Telex, Vertrieb Fax, Fax Sekretariat, nur Fax`);

const isOfAnother = table(`
  Fairfax office, Halifax, HALIFAX, FairFax, Halifaxer Büro, Colfax, Carfax, CarFax, Equifax, Interfax, Ceefax, Faxon Hall
  Faxaflói, Faxälven, Faxe, Fakse, Faxinal, Fax Bay, ハリファックス, フェアファックス, Галифакс, Интерфакс, 핼리팩스, Ajax`);

describe.each([
  ['takes calls beside a fax', 'besidePhone', takesCalls],
  ['may take calls beside a fax', 'inDoubt', mayTakeCalls],
  ['is of a machine alone', 'alone', isOfAMachine],
  ['is of a place or a company', 'none', isOfAnother],
] as const)('a label that %s', (_what, machine, labels) => {
  const isKept = machine !== 'alone';

  test.each(labels)('is known as such: %s', (label) => {
    expect(machineIn(label)).toBe(machine);
  });

  test.each(labels)('in JSON keeps the number, or leaves it out with a warning: %s', (type) => {
    const row = mapJson({ externalId: 'a', phones: [{ type, number }] });
    expect(desiredOf(row).phones[0]?.items).toEqual(isKept ? [{ label: type, value: number }] : []);
    expect(warningsOf(row)).toEqual(isKept ? [] : ['phoneLeftOut']);
  });

  test.each(labels)('in the column of its label keeps the number, or leaves it out with a warning: %s', (label) => {
    const by = mapping({ phones: [{ column: 'Phone', label: { column: 'Label' } }] });
    const row = mapRecord({ id: 'a', Phone: number, Label: label }, {}, by);
    const items = desiredOf(row).phones.flatMap((one) => one.items);
    expect(items).toEqual(isKept ? [{ label, value: number }] : []);
    expect(warningsOf(row)).toEqual(isKept ? [] : ['phoneLeftOut']);
  });

  test.each(['google', 'google-old'])('in an export of Google Contacts, too: %s', async (name) => {
    const preset = await presetNamed(name);
    const kind = name === 'google' ? 'Label' : 'Type';
    for (const label of labels) {
      const row = mapRecord({ 'Phone 1 - Value': number, [`Phone 1 - ${kind}`]: `* ${label}` }, {}, preset);
      expect([label, desiredOf(row).phones.flatMap(({ items }) => items).length]).toEqual([label, isKept ? 1 : 0]);
      expect(warningsOf(row)).toEqual(isKept ? [] : ['phoneLeftOut']);
    }
  });

  test('in a vCard puts the number into the list of its kind', async () => {
    const lines = labels.flatMap((label, index) => [`i${index}.TEL:${number}`, `i${index}.X-ABLabel:${label}`]);
    const text = ['BEGIN:VCARD', 'VERSION:3.0', ...lines, 'END:VCARD', ''].join('\r\n');
    const { items } = await readText(folder, 'c.vcf', text);
    const list = labels.map((name) => ({ name, value: number }));
    expect(dataOf(items)).toEqual([isKept ? { TEL: list } : { FAX: list }]);
  });

  test('in a cell is left out beside the number, or the number with it', () => {
    if (machine === 'none') return;
    for (const label of labels) {
      for (const phone of [`${label}: ${number}`, `${number} ${label}`, `${number} (${label})`]) {
        const row = mapRecord({ externalId: 'a', phone }, {});
        const items = desiredOf(row).phones.flatMap((one) => one.items.map(({ value }) => value));
        const warnings = warningsOf(row);
        expect([phone, items, warnings]).toEqual(isKept ? [phone, [number], []] : [phone, [], ['phoneLeftOut']]);
      }
    }
  });
});

describe('the column of a label', () => {
  test('leaves no number out that the mapping gives another label, and warns of none where there is none', () => {
    const by = mapping({ phones: [{ column: 'Phone', label: { column: 'Label', values: { Fax: 'work' } } }] });
    const read = (phone: string, label: string) => mapRecord({ id: 'a', Phone: phone, Label: label }, {}, by);
    expect(desiredOf(read(number, 'Fax')).phones[0]?.items).toEqual([{ label: 'work', value: number }]);
    expect(warningsOf(read('', 'Telefax'))).toEqual([]);
    expect(desiredOf(read('', 'Telefax')).phones).toEqual([]);
  });
});

describe('the text beside a number in a cell', () => {
  const read = (phone: string) => {
    const row = mapRecord({ externalId: 'a', phone }, { defaultCountry: 'DE' });
    return { row, warnings: warningsOf(row) };
  };
  const numbersIn = (phone: string) =>
    desiredOf(read(phone).row).phones.flatMap(({ items }) => items.map(({ value }) => value));

  test.each([
    ...['Tel. 030 1234567 und Fax', 'Tel. 030 1234567 (Fax)', '030 1234567 + Fax', '030 1234567 (auch Fax)'],
    ...['030 1234567 (kein Fax)', 'Büro 030 1234567 (kein Fax)', 'Büro 030 1234567 und Fax', 'Büro/Fax 030 1234567'],
    ...['privat/Fax 030 1234567', 'Home & Fax: 030 1234567', 'Tel/Fax: (030 1234567)'],
  ])('is judged together, and in doubt the number takes calls: %s', (phone) => {
    expect(numbersIn(phone)).toEqual(['+49301234567']);
    expect(read(phone).warnings).toEqual([]);
  });

  test.each([
    '0170 1234567; Büro/Fax 030 1234567',
    '0170 1234567, Büro/Fax 030 1234567',
    '0170 1234567 | 030 1234567 (kein Fax)',
    '0170 1234567 | 030 1234567 & Fax',
  ])('takes none of several numbers in doubt: %s', (phone) => {
    expect(numbersIn(phone)).toEqual(['+491701234567', '+49301234567']);
  });

  test.each([
    ...[
      '030 1234567, Fax auf Anfrage',
      '030 1234567 (bitte kein Fax)',
      '030 1234567 Fax defekt',
      'Meier/Fax 030 1234567',
    ],
    ...['Tel. 030 1234567, Fax auf Anfrage', 'Frau Meier 030 1234567 und Fax', '030 1234567 факс по запросу'],
  ])('is refused where a word is unknown, so that the contact keeps its number: %s', (phone) => {
    expect(codesOf(read(phone).row)).toEqual(['phoneLetters']);
  });

  test.each([
    ...[
      'Fax Frau Meier: 030 1234567',
      'Notfall Fax: 030 1234567',
      'Fax: 030 1234567 (Frau Meier)',
      'Büro 030 1234567 (Fax)',
      '030 1234567 / Fax',
    ],
    ...['030 1234567 (Fax Büro)', '030 1234567, Fax'],
  ])('leaves the number out where it is the label of a fax: %s', (phone) => {
    expect(numbersIn(phone)).toEqual([]);
    expect(read(phone).warnings).toEqual(['phoneLeftOut']);
  });
});

describe('a label under another name', () => {
  const fax = '+14155550102';
  const itemsOf = (list: object, by: ReturnType<typeof mapping> | null = null) => {
    const mapped = mapJson({ externalId: 'a', id: 'a', firstName: 'Ada', phones: list }, {}, by);
    return [desiredOf(mapped).phones.flatMap(({ items }) => items.map(({ label }) => label)), warningsOf(mapped)];
  };

  test.each(['kind', 'phone_type', 'phoneType', 'category', 'numberType', 'usage', 'use', 'Art', 'typ', 'tipo'])(
    'in "%s" is the label, and leaves out a fax',
    (name) => {
      const elements = [
        { [name]: 'work', number },
        { [name]: 'fax', number: fax },
      ];
      expect(itemsOf(elements)).toEqual([['work'], ['phoneLeftOut']]);
      expect(itemsOf(elements, mapping({ phones: [{ column: 'phones' }] }))).toEqual([['work'], ['phoneLeftOut']]);
    },
  );

  test('may be the name of an object', () => {
    const elements = [
      { phone_type: { id: 4, name: 'work' }, number },
      { type: { id: 5, title: 'Fax' }, number: fax },
    ];
    expect(itemsOf(elements)).toEqual([['work'], ['phoneLeftOut']]);
  });

  test('is named by the hint where the value has an unknown name', () => {
    const mapped = mapJson({ externalId: 'a', phones: [{ phone_type: { name: 'work' }, nr: number }] });
    const [problem] = mapped.kind === 'dead' ? mapped.problems : [];
    expect(problem?.hint).toContain('label: { column: "phones[].phone_type.name" }');
  });

  test('leaves a fax out beside a name, too', () => {
    const elements = [
      { name: 'Desk', kind: 'work', number },
      { name: 'Lab', kind: 'fax', number: fax },
    ];
    expect(itemsOf(elements)).toEqual([['Desk'], ['phoneLeftOut']]);
  });

  test('is none that is a number or a code', () => {
    expect(itemsOf([{ kind: 4, category: 'A', number }])).toEqual([['phone'], []]);
  });

  test.each([
    ...['crm#phone', 'A1', 'Desk', 'only for work orders', 'work\u0007', `${'work '.repeat(36)}`],
    'to be called in the mornings about deliveries to the ramp',
  ])('is none that is no word for numbers: %j', (purpose) => {
    expect(itemsOf([{ purpose, number }])).toEqual([['phone'], []]);
  });

  test('gives way to the label that the mapping has for its column, but for a fax', () => {
    const by = mapping({ phones: [{ column: 'phones', label: 'mobile' }] });
    expect(itemsOf([{ kind: 'office main', number }], by)).toEqual([['mobile'], []]);
    expect(itemsOf([{ type: 'work', kind: 'home', number }], by)).toEqual([['work'], []]);
    expect(itemsOf([{ kind: 'fax', number }], by)).toEqual([[], ['phoneLeftOut']]);
    expect(itemsOf([{ kind: 'office main', number }])).toEqual([['office main'], []]);
  });
});
