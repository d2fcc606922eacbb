/**
 * Stories that once broke a rule, in the smallest form that does. They are played in every run of the proofs, so that none
 * of them has to be found by chance again.
 */
import { fieldPolicies } from '#src/contacts/policies.ts';
import {
  type Column,
  type Command,
  clearCell,
  columnsOf,
  type Edit,
  type Feed,
  type Key,
  type Story,
  sameCell,
} from './commands.ts';

export interface KnownStory {
  readonly name: string;
  readonly commands: readonly Command[];
}

const key: Key = 'k-0';

/** A file with one row: other columns say what they said. */
function drop(feed: Feed, said: Readonly<Partial<Record<Column, string>>>, of: Key = key): Command {
  const columns: readonly Column[] = columnsOf[feed];
  return { do: 'drop', feed, lines: [{ key: of, cells: columns.map((column) => said[column] ?? sameCell) }] };
}
const edit = (what: Edit): Command => ({ do: 'edit', key, edit: what, during: null });
const finish: Command = { do: 'finish' };
const one = '+14155550100';
const two = '+14155550101';
const three = '+14155550102';

export const knownStories: readonly KnownStory[] = [
  {
    name: 'a feed is away while another clears a custom field that both name, and says the same when it is back',
    commands: [
      drop('crm', { firstName: 'Fir', 'custom.account_manager': 'Elm' }),
      finish,
      drop('shop', { firstName: 'Fir', 'custom.account_manager': 'Elm' }),
      { do: 'away', feed: 'shop' },
      drop('crm', { 'custom.account_manager': clearCell }),
      finish,
      { do: 'repeat', feed: 'shop', lastName: null },
      finish,
    ],
  },
  {
    name: 'two feeds name one new person at once',
    // The first file keeps the workers busy, so that the other two are at work together.
    commands: [
      drop('main', { firstName: 'Fir', phone: one }, 'k-1'),
      drop('main', { firstName: 'Fir', phone: one }),
      drop('shop', { firstName: 'Fir', company: 'Fir', 'phone work': one }),
      { do: 'redeliver', together: false },
    ],
  },
  {
    name: 'a feed that only repeats itself arrives while another feed’s change is at work',
    commands: [
      drop('crm', { firstName: 'Elm', role: 'Fir', 'phone mobile': one }),
      finish,
      drop('shop', { firstName: 'Elm', company: 'Fir' }),
      finish,
      drop('crm', { role: 'Oak', 'phone mobile': two }),
      drop('shop', {}),
    ],
  },
  {
    name: 'a person’s value is held, whatever another column did meanwhile',
    commands: [
      drop('shop', { role: 'Fir', company: 'Fir' }),
      finish,
      edit({ what: 'set', field: 'role', value: 'by hand' }),
      drop('shop', { company: 'Elm' }),
      finish,
      drop('shop', { role: 'Oak' }),
    ],
  },
  {
    name: 'a hold outlasts the write of another feed',
    commands: [
      drop('crm', { role: 'Fir' }),
      finish,
      drop('shop', { role: 'Fir' }),
      finish,
      edit({ what: 'set', field: 'role', value: 'by hand' }),
      drop('crm', { role: 'Oak' }),
      finish,
      drop('shop', { company: 'Elm' }),
      finish,
      drop('crm', { lastName: 'Elm' }),
    ],
  },
  {
    name: 'a hold outlasts what another feed agrees on and then changes',
    commands: [
      drop('crm', { role: 'Fir' }),
      finish,
      drop('shop', { role: 'Fir' }),
      finish,
      edit({ what: 'set', field: 'role', value: 'Elm' }),
      drop('crm', { role: 'Oak' }),
      finish,
      drop('shop', { role: 'Elm' }),
      finish,
      drop('shop', { role: 'ELM' }),
      finish,
      drop('crm', { lastName: 'Elm' }),
    ],
  },
  {
    name: 'a contact made by hand keeps what it says',
    commands: [
      edit({ what: 'make', firstName: 'Fir', role: 'Oak', phone: '' }),
      drop('main', { firstName: 'Fir', role: 'Elm', company: 'Elm' }),
    ],
  },
  {
    name: 'a column that is mapped for the first time finds a value of people',
    commands: [
      drop('main', { role: 'Fir' }),
      finish,
      edit({ what: 'set', field: 'lastName', value: 'by hand' }),
      drop('crm', { lastName: 'Oak' }),
    ],
  },
  {
    name: 'a number that one feed drops and another still names',
    commands: [
      drop('crm', { 'phone work': one }),
      finish,
      drop('shop', { 'phone work': one }),
      finish,
      drop('crm', { 'phone work': two }),
    ],
  },
  {
    name: 'a number that both feeds drop',
    commands: [
      drop('crm', { 'phone work': one }),
      finish,
      drop('shop', { 'phone work': one }),
      finish,
      drop('crm', { 'phone work': two }),
      finish,
      drop('shop', { 'phone work': two }),
    ],
  },
  {
    name: 'a number in two columns, of which one changes and one is blank',
    commands: [
      drop('crm', { 'phone work': one, 'phone mobile': one }),
      finish,
      drop('crm', { 'phone work': two, 'phone mobile': '' }),
    ],
  },
  {
    name: 'one feed clears the custom field that another one wrote',
    commands: [
      drop('crm', { 'custom.account_manager': 'Fir' }),
      finish,
      drop('shop', { 'custom.account_manager': 'Fir' }),
      finish,
      drop('shop', { 'custom.account_manager': '#CLEAR' }),
    ],
  },
  {
    name: 'an update in doubt that corrects case only and did not land',
    commands: [
      drop('main', { role: 'Elm' }),
      finish,
      drop('main', { role: 'ELM' }),
      { do: 'fault', specs: ['update:status=503'] },
      { do: 'work', worker: 0, jobs: 2 },
      finish,
    ],
  },
  {
    name: 'a person types one of two values of an update that did not land',
    commands: [
      drop('main', { role: 'Fir', company: 'Fir' }),
      finish,
      drop('main', { role: 'Oak', company: 'Oak' }),
      { do: 'fault', specs: ['update:status=503'] },
      { do: 'work', worker: 0, jobs: 2 },
      { do: 'clear' },
      edit({ what: 'set', field: 'role', value: 'Oak' }),
      finish,
    ],
  },
  {
    name: 'a list that shows the contact as it was before the last file',
    commands: [
      drop('crm', { role: 'Fir', lastName: 'Fir' }),
      finish,
      { do: 'advance', ms: 20_000 },
      { do: 'staleLists', ms: 9_000 },
      drop('crm', { role: 'Oak' }),
      { do: 'work', worker: 0, jobs: 3 },
      drop('shop', { lastName: 'Fir', company: 'Oak' }),
      { do: 'work', worker: 0, jobs: 4 },
    ],
  },
  {
    name: 'a second file of the same feed while lists lag',
    commands: [
      drop('main', { role: 'Fir' }),
      finish,
      { do: 'advance', ms: 20_000 },
      { do: 'staleLists', ms: 9_000 },
      drop('main', { role: 'Oak' }),
      { do: 'work', worker: 0, jobs: 3 },
      drop('main', { role: 'Elm' }),
      { do: 'work', worker: 0, jobs: 4 },
    ],
  },
  {
    name: 'an address that is there, of a row that its reply rejects, leaves the file of another feed',
    commands: [
      drop('main', { firstName: 'Fir', email: 'ann@example.com' }),
      finish,
      { do: 'advance', ms: 20_000 },
      // The list does not show the number yet, so that the update is planned without it and its reply differs.
      { do: 'staleLists', ms: 3_000 },
      edit({ what: 'add', list: 'phoneNumbers', value: two }),
      drop('crm', { role: 'Fir', email: 'ann@example.com' }),
      { do: 'work', worker: 0, jobs: 5 },
      drop('main', { email: 'bea@example.com' }),
    ],
  },
  {
    name: 'a number moves to the column of one that is to leave, and the first write does not land',
    commands: [
      drop('crm', { firstName: 'Fir', 'phone work': two, 'phone mobile': one }),
      drop('crm', { lastName: 'Fir', 'phone work': one, 'phone mobile': '#CLEAR' }),
      { do: 'fault', specs: ['update:status=503:50%'] },
      { do: 'work', worker: 0, jobs: 5 },
    ],
  },
  {
    name: 'a number that people removed moves to another column, and the write is rejected by its reply',
    commands: [
      drop('crm', { firstName: 'Fir', email: 'Bea@example.com', 'phone work': one }),
      { do: 'work', worker: 0, jobs: 2 },
      edit({ what: 'remove', list: 'phoneNumbers', pick: 0 }),
      // The read of the second file is too old to show this address, so that the service has it twice.
      { do: 'staleLists', ms: 9_000 },
      { do: 'advance', ms: 20_000 },
      edit({ what: 'add', list: 'emails', value: 'ann@example.com' }),
      drop('crm', { email: 'ann@example.com', 'phone work': three, 'phone mobile': one }),
      { do: 'work', worker: 0, jobs: 3 },
      drop('crm', { role: 'Fir', email: '' }),
    ],
  },
  {
    name: 'a custom field that people set stays, also if a file names its value and clears it later',
    commands: [
      drop('shop', { firstName: 'Fir', 'custom.seats': '1' }),
      finish,
      edit({ what: 'set', field: 'custom.seats', value: '2' }),
      drop('shop', { 'custom.seats': '2' }),
      finish,
      drop('shop', { 'custom.seats': '#CLEAR' }),
    ],
  },
  {
    name: 'a person types what a worker claimed and never sent, and another feed changes it',
    commands: [
      drop('crm', { firstName: 'ELM' }),
      finish,
      drop('shop', { firstName: 'Fir', role: 'Oak' }),
      // The claim is entered, and nothing of it leaves.
      { do: 'crash', worker: 1, effect: 9, moment: 'after', noticed: false },
      { do: 'work', worker: 1, jobs: 5 },
      edit({ what: 'set', field: 'firstName', value: 'Fir' }),
      drop('main', { firstName: 'Elm' }),
    ],
  },
  {
    name: 'a feed that is away loses a number to another one, and its next file says what it said',
    commands: [
      drop('crm', { firstName: 'Fir', 'phone mobile': one }),
      drop('shop', { firstName: 'Fir', 'phone work': one }),
      { do: 'away', feed: 'crm' },
      drop('shop', { 'phone work': two }),
      finish,
      drop('crm', {}),
    ],
  },
  {
    name: 'people remove a number, another feed drops it while a feed that names it is away',
    commands: [
      drop('crm', { firstName: 'Fir', 'phone mobile': one }),
      drop('shop', { firstName: 'Fir', 'phone work': one }),
      finish,
      edit({ what: 'remove', list: 'phoneNumbers', pick: 0 }),
      { do: 'away', feed: 'crm' },
      drop('shop', { 'phone work': '#CLEAR' }),
      finish,
      drop('crm', { role: 'Oak' }),
    ],
  },
];

const company = (value: string): Command => edit({ what: 'set', field: 'company', value });

/** People and two feeds in turn: written, edited, repeated, changed, emptied, changed by the other feed, repeated. */
const policedCommands: readonly Command[] = [
  drop('main', { company: 'Fir', role: 'Fir' }),
  finish,
  drop('main', { company: 'Elm', role: 'Elm' }),
  finish,
  company('by hand'),
  drop('main', { role: 'Oak' }),
  finish,
  company('by hand'),
  drop('main', { company: 'Oak' }),
  finish,
  company(''),
  drop('main', { role: 'Fir' }),
  finish,
  drop('main', { company: 'Fir' }),
  finish,
  company(''),
  drop('shop', { firstName: 'Fir', company: 'Elm' }),
  finish,
  drop('main', { role: 'Oak' }),
  finish,
  company('by another hand'),
  drop('shop', { lastName: 'Oak' }),
  finish,
  drop('main', { company: '#CLEAR' }),
  finish,
];

/** Stories in which each line of a policy's table is met. */
export const policedStories: readonly Pick<Story, 'policy' | 'commands'>[] = fieldPolicies.map((policy) => ({
  policy,
  commands: policedCommands,
}));

export const asStory = ({ commands }: KnownStory, patchMode: Story['patchMode']): Story => ({ patchMode, commands });
