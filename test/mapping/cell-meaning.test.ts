import { describe, expect, test } from 'vitest';
import { codesOf, desiredOf, mapJson, mapping, mapRecord, warningsOf } from './support.ts';

const row = (cells: Record<string, string>, context = {}) => mapRecord({ externalId: 'a', ...cells }, context);

describe('a blank cell', () => {
  test('keeps by default: no scalar, no slot, no custom field', () => {
    expect(desiredOf(row({ firstName: ' ', email: '', phone: '\u00a0', 'custom.note': '' }))).toEqual({
      key: 'a',
      scalars: {},
      source: null,
      emails: [],
      phones: [],
      customFields: [],
    });
  });

  test('clears where onBlank says so: null, a slot without items, null', () => {
    const cells = { firstName: '', email: '', 'phone work': '', 'custom.note': '' };
    expect(desiredOf(row(cells, { onBlank: 'clear' }))).toMatchObject({
      scalars: { firstName: null },
      emails: [{ slot: 'email', items: [] }],
      phones: [{ slot: 'phonework', items: [] }],
      customFields: [{ key: 'note', value: null }],
    });
  });

  test("follows the column's own rule, then the flag, then the mapping's", () => {
    const by = mapping({
      onBlank: 'clear',
      fields: {
        firstName: { column: 'A', onBlank: 'clear' },
        lastName: 'B',
        company: { column: 'C', onBlank: 'keep' },
      },
    });
    const cells = { id: 'a', A: '', B: '', C: '' };
    expect(desiredOf(mapRecord(cells, {}, by)).scalars).toEqual({ firstName: null, lastName: null });
    expect(desiredOf(mapRecord(cells, { onBlank: 'keep' }, by)).scalars).toEqual({ firstName: null });
  });
});

describe('the token #CLEAR', () => {
  test('clears a scalar, the items of a slot and a custom field, whatever onBlank says', () => {
    const cells = {
      lastName: '#CLEAR',
      email: ' #CLEAR ',
      phone: '#CLEAR',
      sourceUrl: '#CLEAR',
      'custom.note': '#CLEAR',
    };
    expect(desiredOf(row(cells))).toMatchObject({
      scalars: { lastName: null, sourceUrl: null },
      emails: [{ slot: 'email', items: [] }],
      phones: [{ slot: 'phone', items: [] }],
      customFields: [{ key: 'note', value: null }],
    });
  });

  test('clears only alone in its cell', () => {
    expect(desiredOf(row({ company: '#CLEAR Ltd' })).scalars).toEqual({ company: '#CLEAR Ltd' });
  });

  test('in a source column is ignored with a warning, since a source is written on create only', () => {
    const mapped = row({ source: '#CLEAR' }, { sourceLabel: 'crm' });
    expect(desiredOf(mapped).source).toBe('crm');
    expect(warningsOf(mapped)).toEqual(['clearIgnored']);
  });
});

describe('a text', () => {
  test('is trimmed and brought to NFC', () => {
    expect(desiredOf(row({ firstName: '  Zoe\u0308 ' })).scalars.firstName).toBe('Zoë');
  });

  test('loses invisible marks at its ends, and is blank where it is nothing else; a key, too', () => {
    const mapped = mapRecord({ externalId: '\u200ba\ufeff', firstName: '\u200eAda\u200b', company: '\u200b\u00a0' });
    expect(desiredOf(mapped)).toMatchObject({ key: 'a', scalars: { firstName: 'Ada' } });
    expect(desiredOf(mapped).scalars).toEqual({ firstName: 'Ada' });
  });

  test('with a control character or half a character kills the row', () => {
    expect(codesOf(row({ firstName: 'A\u0000' }))).toEqual(['controlCharacter']);
    expect(codesOf(row({ company: '\u009f' }))).toEqual(['controlCharacter']);
    expect(codesOf(row({ role: '\udfff' }))).toEqual(['brokenCharacter']);
  });

  test('of one line loses its line breaks and tabs to spaces, with a warning', () => {
    const mapped = row({ company: 'North \r\n\twind' });
    expect(desiredOf(mapped).scalars.company).toBe('North wind');
    expect(warningsOf(mapped)).toEqual(['lineBreakReplaced']);
  });

  test.each(['O&#39;Hara &amp; Sons', 'M&uuml;ller\tAG', 'R&#x26;D', '東京&nbsp;'])(
    'keeps codes of HTML, with a warning: %s',
    (text) => {
      const mapped = row({ company: text });
      expect(desiredOf(mapped).scalars.company).toBe(text.replace('\t', ' '));
      expect(warningsOf(mapped)).toContain('textEscaped');
    },
  );

  test.each(['R&D; Sales', 'A & B;', 'AT&T', 'A &#; B', 'Mueller&Co;KG'])('has no code of HTML in %s', (company) => {
    expect(warningsOf(row({ company }))).toEqual([]);
  });

  test('whose codes of HTML a mapping replaces, as the warning says, has none', () => {
    const company = { column: 'C', transform: [{ replace: '&amp;', with: '&' }] };
    const mapped = mapRecord({ id: '7', C: 'R&amp;D' }, {}, mapping({ fields: { company } }));
    expect([desiredOf(mapped).scalars.company, warningsOf(mapped)]).toEqual(['R&D', []]);
  });

  test('that begins with a guarded = + - @ loses one apostrophe; any other apostrophe stays', () => {
    expect(desiredOf(row({ company: "'=SUM Ltd", role: "'quoted'", lastName: "'-O" })).scalars).toEqual({
      company: '=SUM Ltd',
      role: "'quoted'",
      lastName: '-O',
    });
    expect(desiredOf(mapJson({ externalId: 'a', company: "'=SUM Ltd" })).scalars.company).toBe("'=SUM Ltd");
  });

  test('that looks like a formula stays as it is', () => {
    expect(desiredOf(row({ company: '=1+1' })).scalars.company).toBe('=1+1');
  });
});

describe('the source', () => {
  test('of the row wins over that of the mapping, and this over that of the feed', () => {
    const by = mapping({ source: 'crm', fields: { source: 'From' } });
    expect(desiredOf(mapRecord({ id: 'a', From: 'shop' }, { sourceLabel: 'feed' }, by)).source).toBe('shop');
    expect(desiredOf(mapRecord({ id: 'a', From: '' }, { sourceLabel: 'feed' }, by)).source).toBe('crm');
    expect(desiredOf(row({ source: '' }, { sourceLabel: 'feed' })).source).toBe('feed');
  });

  test.each(['csv', 'CSV-import', 'OpenPhone 2', 'Device', 'zapier', 'Google-People', 'other', 'x'.repeat(73)])(
    'with a reserved word or prefix, or too long, kills the row: %s',
    (label) => {
      expect(codesOf(row({ source: label }))).toEqual(['sourceRefused']);
    },
  );

  test('may have 72 characters, and hold a reserved word inside', () => {
    expect(desiredOf(row({ source: 'x'.repeat(72) })).source).toHaveLength(72);
    expect(desiredOf(row({ source: 'other systems' })).source).toBe('other systems');
  });
});

describe('the source link', () => {
  test('is an http or https URI of at most 200 characters', () => {
    const link = `https://crm.example.com/${'x'.repeat(176)}`;
    expect(desiredOf(row({ sourceUrl: ` ${link} ` })).scalars.sourceUrl).toBe(link);
    expect(codesOf(row({ sourceUrl: `${link}x` }))).toEqual(['sourceUrlInvalid']);
  });

  test.each([
    'www.example.com',
    'ftp://example.com/x',
    'javascript:alert(1)',
    'https://',
    'https://a b',
    'https://exa"mple.com',
  ])('that is none kills the row: %s', (text) => {
    expect(codesOf(row({ sourceUrl: text }))).toEqual(['sourceUrlInvalid']);
  });

  test('with letters outside ASCII is percent-encoded', () => {
    expect(desiredOf(row({ sourceUrl: 'https://example.com/müller' })).scalars.sourceUrl).toBe(
      'https://example.com/m%C3%BCller',
    );
  });

  test('with other characters that no URI has is percent-encoded, too', () => {
    const encoded = {
      'https://crm.example.com/?f[0]=ü&p=100%#a#[b]': 'https://crm.example.com/?f%5B0%5D=%C3%BC&p=100%25#a%23%5Bb%5D',
      'https://münchen.example.com/straße?größe=1': 'https://xn--mnchen-3ya.example.com/stra%C3%9Fe?gr%C3%B6%C3%9Fe=1',
      'https://crm.example.com?q=[1]': 'https://crm.example.com/?q=%5B1%5D',
      'http://[2001:db8::1]/a[1]': 'http://[2001:db8::1]/a%5B1%5D',
    };
    for (const [text, uri] of Object.entries(encoded)) {
      expect(desiredOf(row({ sourceUrl: text })).scalars.sourceUrl).toBe(uri);
    }
  });

  test.each([
    'https://crm.example.com',
    'HTTPS://CRM.example.com:443/a/../b?q=%c3%bc#top',
    'http://[2001:db8::1]:8080/people/17',
    'https://ada@crm.example.com/?a=1?b=/',
  ])('that is a URI travels as it was written: %s', (text) => {
    expect(desiredOf(row({ sourceUrl: text })).scalars.sourceUrl).toBe(text);
  });
});

describe('the same value twice in a row', () => {
  test('is kept once in a slot, and in every slot that says it', () => {
    const mapped = desiredOf(
      row({
        'phone mobile': '+14155550101',
        'phone work': '+1 415 555 0101, +14155550102, +14155550101',
        phone: '+14155550102',
      }),
    );
    expect(mapped.phones).toEqual([
      { slot: 'phonemobile', items: [{ label: 'mobile', value: '+14155550101' }] },
      {
        slot: 'phonework',
        items: [
          { label: 'work', value: '+14155550101' },
          { label: 'work', value: '+14155550102' },
        ],
      },
      { slot: 'phone', items: [{ label: 'phone', value: '+14155550102' }] },
    ]);
  });
});
