/** The scenarios. Names and values are invented. */
import type { Contact } from '#src/wire/contact.ts';
import type { Fields } from './model-service.ts';
import type { OutsideEvent, Scenario } from './scenario.ts';

const plain = {
  unique: false,
  patchMode: 'replace',
  redelivered: false,
  sameHost: true,
  outageWrites: 0,
  past: [],
  events: [],
  mayDie: [],
} as const;
const ours = { madeByOthers: 0, known: false };
const known = { madeByOthers: 0, known: true };

const ann = { firstName: 'Ann', company: 'Fir' };
const older = { firstName: 'Ann', company: 'Old' };
const newer = { firstName: 'Ann', company: 'New' };
const one = '+14155550101';
const two = '+14155550102';

const sets = (field: 'role' | 'company', value: string, key = 'k1'): OutsideEvent => ({
  words: `a person makes the ${field} of ${key} ${value}`,
  key,
  happen: (service) =>
    service.edit(key, (contact) => ({ ...contact, defaultFields: { ...contact.defaultFields, [field]: value } })),
});
const withoutPhone = ({ defaultFields, ...rest }: Contact, value: string): Contact => ({
  ...rest,
  defaultFields: { ...defaultFields, phoneNumbers: defaultFields.phoneNumbers.filter((item) => item.value !== value) },
});
const removesPhone = (value: string): OutsideEvent => ({
  words: `a person removes the phone ${value}`,
  key: 'k1',
  happen: (service) => service.edit('k1', (contact) => withoutPhone(contact, value)),
});
const removes: OutsideEvent = {
  words: 'a person deletes the contact of k1',
  key: 'k1',
  happen: (service) => service.remove('k1'),
};
const adds = (key: string, fields: Fields): OutsideEvent => ({
  words: `somebody else makes a contact of ${key}`,
  key,
  happen: (service) => service.add(key, fields),
});

const annAtWork = { files: [{ feed: 'main', rows: { k1: ann } }], keys: [{ ...ours, key: 'k1' }] } as const;
const boundAnn = { file: { feed: 'main', rows: { k1: { ...ann, role: 'Clerk', phone: one } } } } as const;

export const scenarios: readonly Scenario[] = [
  {
    ...plain,
    ...annAtWork,
    name: 'redelivery',
    about: 'one new key; its batch is delivered to both workers',
    redelivered: true,
  },
  {
    ...plain,
    ...annAtWork,
    name: 'two machines',
    about: 'the same, and nobody sees that a worker of the other machine is dead',
    redelivered: true,
    sameHost: false,
  },
  {
    ...plain,
    name: 'two runs',
    about:
      'one new key in an older and a newer file of one feed; from its intent on, the newer one supersedes the older',
    files: [
      { feed: 'main', rows: { k1: older } },
      { feed: 'main', rows: { k1: newer } },
    ],
    epilogue: { feed: 'main', rows: { k1: { firstName: 'Ann', company: 'Next' } } },
    keys: [{ ...ours, key: 'k1' }],
  },
  {
    ...plain,
    name: 'two feeds',
    about: 'one new key in the files of two feeds, with one column that says the same, one that does not, and one each',
    files: [
      { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Old', lastName: 'Fir', 'phone work': one } } },
      { feed: 'shop', rows: { k1: { firstName: 'Ann', role: 'New', company: 'Elm', 'phone work': one } } },
    ],
    epilogue: { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Next', 'phone work': '' } } },
    keys: [{ ...ours, key: 'k1' }],
  },
  {
    ...plain,
    name: 'newer doubt',
    about: 'a create in doubt of the newer file has landed; both take the key up, and its intent supersedes the older',
    past: [{ file: { feed: 'main', rows: { k1: newer } }, lost: true }],
    files: [{ feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Old' } } }],
    epilogue: { feed: 'main', rows: { k1: { firstName: 'Ann', company: 'Next' } } },
    keys: [{ ...ours, key: 'k1' }],
  },
  {
    ...plain,
    name: 'two keys',
    about: 'two new keys in one batch',
    redelivered: true,
    files: [{ feed: 'main', rows: { k1: ann, k2: newer } }],
    keys: [
      { ...ours, key: 'k1' },
      { ...ours, key: 'k2' },
    ],
  },
  {
    ...plain,
    name: 'update',
    about: 'a bound contact in an older and a newer file of one feed; a person edits a field that no file names',
    past: [boundAnn],
    events: [sets('role', 'Boss')],
    files: [
      { feed: 'main', rows: { k1: older } },
      { feed: 'main', rows: { k1: newer } },
    ],
    epilogue: { feed: 'main', rows: { k1: { firstName: 'Ann', company: 'Next' } } },
    keys: [{ ...known, key: 'k1' }],
  },
  {
    ...plain,
    name: 'repetition',
    about: 'a feed changes a bound contact, and the other feed’s file, which only repeats itself, comes after it',
    past: [
      { file: { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Clerk', 'phone work': one } } } },
      { file: { feed: 'shop', rows: { k1: { firstName: 'Ann', company: 'Fir', 'phone work': one } } } },
    ],
    files: [
      { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Boss', 'phone work': two } } },
      { feed: 'shop', rows: { k1: { firstName: 'Ann', company: 'Fir', 'phone work': one } } },
    ],
    epilogue: { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Next', 'phone work': '' } } },
    keys: [{ ...known, key: 'k1' }],
  },
  {
    ...plain,
    name: 'edit',
    about: 'a bound contact in one file; a person edits a field that the file does not name',
    redelivered: true,
    past: [boundAnn],
    events: [sets('role', 'Boss')],
    files: [{ feed: 'main', rows: { k1: newer } }],
    keys: [{ ...known, key: 'k1' }],
  },
  {
    ...plain,
    name: 'both change',
    about:
      'a file changes two fields; a person makes one of them what the file says, and then the other one something else',
    patchMode: 'merge',
    past: [boundAnn],
    events: [sets('company', 'New'), sets('role', 'by hand')],
    files: [{ feed: 'main', rows: { k1: { ...newer, role: 'Boss' } } }],
    epilogue: { feed: 'main', rows: { k1: { firstName: 'Ann', company: 'Next', role: 'Next' } } },
    keys: [{ ...known, key: 'k1' }],
    mayDie: ['notApplied'],
  },
  {
    ...plain,
    name: 'case only',
    about: 'a file corrects the case of a name; a person may write it in a third way',
    past: [{ file: { feed: 'main', rows: { k1: { firstName: 'ANN', company: 'Fir' } } } }],
    events: [
      {
        words: 'a person makes the first name ann',
        key: 'k1',
        happen: (service) =>
          service.edit('k1', (contact) => ({
            ...contact,
            defaultFields: { ...contact.defaultFields, firstName: 'ann' },
          })),
      },
    ],
    files: [{ feed: 'main', rows: { k1: { firstName: 'Ann', company: 'Fir' } } }],
    epilogue: { feed: 'main', rows: { k1: { firstName: 'Anne', company: 'Fir' } } },
    keys: [{ ...known, key: 'k1' }],
  },
  {
    ...plain,
    name: 'hold',
    about: 'a person’s value is held against one feed; another feed agrees with the person and then changes the field',
    past: [
      { file: { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Clerk' } } } },
      { file: { feed: 'shop', rows: { k1: { firstName: 'Ann', role: 'Clerk' } } } },
      { event: sets('role', 'by hand') },
      { file: { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Boss' } } } },
      { file: { feed: 'shop', rows: { k1: { firstName: 'Ann', role: 'by hand' } } } },
    ],
    files: [
      { feed: 'shop', rows: { k1: { firstName: 'Ann', company: 'Elm', role: 'Buyer' } } },
      { feed: 'crm', rows: { k1: { firstName: 'Ann', lastName: 'Fir', role: 'Boss' } } },
    ],
    epilogue: { feed: 'crm', rows: { k1: { firstName: 'Ann', lastName: 'Elm', role: 'Clerk' } } },
    keys: [{ ...known, key: 'k1' }],
  },
  {
    ...plain,
    name: 'shared items',
    about: 'two feeds name one number; one drops it, the other drops it too; a person may remove it',
    past: [
      { file: { feed: 'crm', rows: { k1: { firstName: 'Ann', 'phone work': one } } } },
      { file: { feed: 'shop', rows: { k1: { firstName: 'Ann', 'phone work': one } } } },
    ],
    events: [removesPhone(one)],
    files: [
      { feed: 'crm', rows: { k1: { firstName: 'Ann', 'phone work': two } } },
      { feed: 'shop', rows: { k1: { firstName: 'Ann', 'phone work': two } } },
    ],
    epilogue: { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Next', 'phone work': '' } } },
    keys: [{ ...known, key: 'k1' }],
    mayDie: ['refused400'],
  },
  {
    ...plain,
    name: 'adopted',
    about: 'a contact that a person made; two feeds name its key, and say other things',
    past: [{ event: adds('k1', { firstName: 'Ann', role: 'Owner', phoneNumbers: [{ name: 'work', value: one }] }) }],
    files: [
      { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Boss', 'phone work': one } } },
      { feed: 'shop', rows: { k1: { firstName: 'ann', role: 'Owner', company: 'Elm', 'phone work': two } } },
    ],
    epilogue: { feed: 'crm', rows: { k1: { firstName: 'Bea', role: 'Owner', 'phone work': two } } },
    keys: [{ key: 'k1', madeByOthers: 1, known: false }],
  },
  {
    ...plain,
    name: 'link',
    about:
      'a contact that a person made without an externalId; an older and a newer file of a feed are to be linked to it',
    redelivered: true,
    past: [{ event: adds('', { firstName: 'Ann', role: 'Owner', phoneNumbers: [{ name: 'work', value: one }] }) }],
    events: [sets('role', 'by hand')],
    files: [
      { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Boss', company: 'Old', 'phone work': one } } },
      { feed: 'crm', rows: { k1: { firstName: 'Ann', role: 'Boss', company: 'New', 'phone work': two } } },
    ],
    links: { k1: 'c1' },
    epilogue: { feed: 'crm', rows: { k1: { firstName: 'Bea', role: 'Next', company: 'Next', 'phone work': two } } },
    keys: [{ key: 'k1', madeByOthers: 1, known: false }],
  },
  {
    ...plain,
    name: 'link in place',
    about:
      'people deleted a known contact and made it again without an externalId; an older and a newer file of a feed are to be linked to it',
    redelivered: true,
    onGone: 'recreate',
    past: [
      boundAnn,
      { event: removes },
      { event: adds('', { firstName: 'Ann', role: 'Owner', phoneNumbers: [{ name: 'work', value: one }] }) },
    ],
    events: [sets('role', 'by hand')],
    files: [
      { feed: 'main', rows: { k1: { firstName: 'Ann', role: 'Boss', company: 'Old', phone: one } } },
      { feed: 'main', rows: { k1: { firstName: 'Ann', role: 'Boss', company: 'New', phone: two } } },
    ],
    links: { k1: 'c2' },
    epilogue: { feed: 'main', rows: { k1: { firstName: 'Bea', role: 'Next', company: 'Next', phone: two } } },
    keys: [{ key: 'k1', madeByOthers: 1, known: true, isInPlace: true }],
  },
  {
    ...plain,
    ...annAtWork,
    name: 'outage',
    about: 'one new key; the first three writes of all are lost',
    outageWrites: 3,
  },
  {
    ...plain,
    ...annAtWork,
    name: 'taken',
    about: 'a service that answers 409; somebody else makes the contact of the key meanwhile',
    unique: true,
    redelivered: true,
    events: [adds('k1', { firstName: 'Anna', company: 'Elm' })],
    keys: [{ key: 'k1', madeByOthers: 1, known: false }],
  },
  {
    ...plain,
    ...annAtWork,
    name: 'conflict',
    about: 'two contacts of the key are there',
    past: [{ event: adds('k1', { firstName: 'Ann' }) }, { event: adds('k1', older) }],
    keys: [{ key: 'k1', madeByOthers: 2, known: false, isConflict: true }],
    mayDie: ['twoContacts'],
  },
];

/** @throws Error for a name that there is not. */
export function scenarioOf(name: string): Scenario {
  const scenario = scenarios.find((each) => each.name === name);
  if (scenario === undefined) throw new Error(`no scenario ${name}: ${scenarios.map((each) => each.name).join(', ')}`);
  return scenario;
}
