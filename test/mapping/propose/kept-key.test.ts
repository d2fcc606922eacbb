/** A mapping that is proposed in the place of another keeps its key, so that no one is made anew. */
import { describe, expect, it } from 'vitest';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { keyChange } from '#src/mapping/propose/kept-key.ts';
import { propose, tableFacts } from './support/proposals.ts';

const derived = `{ firstOf: [{ column: E-Mail, transform: [emailAddress, lowerCase] }, { template: "{Kontakt}|{Firma}|{Telefon}", transform: [lowerCase] }], hashLong: true }`;
const mappingWith = (key: string, prefix = 'air-') =>
  parseMapping(
    `name: air\nkey: ${key}\n${prefix === '' ? '' : `keyPrefix: ${prefix}\n`}fields: { company: Firma }\n`,
    'before.yaml',
  );

const week2 = tableFacts(
  ['Kontakt', 'Firma', 'Telefon', 'Mobilnummer', 'E-Mail'],
  [
    ['Ann Eins', 'A GmbH', '+49 30 9018201', '+49 171 2345671', 'ann@example.de'],
    ['Ben Zwei', 'B GmbH', '+49 30 9018202', '+49 171 2345672', ''],
    ['Dee Vier', 'D GmbH', '', '+49 171 2345674', 'dee@example.de'],
  ],
);

describe('the key of a mapping that is there', () => {
  it('stays while the file has its columns, where another would be proposed', () => {
    expect(propose(week2, { feed: 'air' }).mapping.key).toMatchObject({
      firstOf: [{ column: 'E-Mail' }, { template: '{Kontakt}|{Firma}|{Mobilnummer}' }],
    });
    const old = mappingWith(derived);
    const { mapping, draft } = propose(week2, { feed: 'air', before: old });
    expect(mapping.key).toEqual(old.key);
    expect(mapping.keyPrefix).toBe('air-');
    expect(keyChange(old, mapping)).toBeNull();
    expect(draft.remarks).toEqual(['the key is that of the mapping which is there, so that people keep their keys']);
  });

  it('stays where it is one column, which may be an address of the contact, too', () => {
    const ids = tableFacts(
      ['Nr', 'ID', 'E-Mail', 'Nachname'],
      ['1', '2', '3', '4', '5', '6'].map((n) => [`n${n}`, `${n}00`, `p${n}@example.de`, `Name${n}`]),
    );
    const ofColumn = propose(ids, { feed: 'air', before: mappingWith('nr', '') });
    expect([ofColumn.mapping.key, ofColumn.mapping.keyPrefix]).toEqual(['nr', undefined]);
    expect(ofColumn.draft.columns[0]).toMatchObject({ column: 'Nr', target: 'key', confidence: 'certain' });
    const ofEmail = propose(ids, { feed: 'air', before: mappingWith('E-Mail') });
    expect(ofEmail.mapping.key).toBe('E-Mail');
    expect(ofEmail.mapping.emails).toMatchObject([{ column: 'E-Mail' }]);
    expect(ofEmail.draft.columns[2]?.target).toBe('key and email');
    // Another column may be at that position now.
    expect(propose(ids, { feed: 'air', before: mappingWith('1') }).mapping.key).toBe('ID');
  });

  it('is given up with a word where the file lacks a column of it; its prefix stays', () => {
    const old = mappingWith(derived.replace('{Telefon}', '{Festnetz}'), 'kd-');
    const { mapping, draft } = propose(week2, { feed: 'air', before: old });
    expect(mapping.keyPrefix).toBe('kd-');
    expect(draft.remarks[0]).toMatch(
      /^the key is another than that of the mapping which is there, since the file lacks "Festnetz" of it: a person/,
    );
    expect(keyChange(old, mapping)).toMatch(
      /^the key changes: it was key: .*\{Festnetz\}.*, keyPrefix: "kd-", and is key: .*\{Mobilnummer\}.* now\. Every person whose key changes is made anew .* To keep the keys, /,
    );
  });
});
