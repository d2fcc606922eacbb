/**
 * Stories that are taken back, in the smallest form: one that an undo once broke, and those that say where an item that people typed
 * in again counts as changed (`docs/plans.md`, "Undo"). They are played in every run of the proofs.
 */
import {
  type Act,
  type Column,
  type Command,
  columnsOf,
  type Feed,
  type FileLine,
  type Key,
  type KeyEdit,
  likeCell,
  type Story,
  sameCell,
  type TakenBackStory,
} from './commands.ts';

interface KnownAct {
  readonly name: string;
  readonly act: Act;
  /** What has happened before. Absent: nothing, so that the run of the act makes the contact. */
  readonly before?: readonly Command[];
}

const key: Key = 'k-0';
const one = '+14155550100';
const two = '+14155550101';

type Said = Readonly<Partial<Record<Column, string>>>;
const line = (feed: Feed, said: Said, otherwise = ''): FileLine => {
  const columns: readonly Column[] = columnsOf[feed];
  return { key, cells: columns.map((column) => said[column] ?? otherwise) };
};
const drop = (feed: Feed, said: Said): Command => ({ do: 'drop', feed, lines: [line(feed, said)] });
const remove = (pick: number): KeyEdit => ({ key, edit: { what: 'remove', list: 'phoneNumbers', pick } });
const typeIn = (value: string): KeyEdit => ({ key, edit: { what: 'add', list: 'phoneNumbers', value } });
const retype = (pick: number, value: string): KeyEdit => ({
  key,
  edit: { what: 'retype', list: 'phoneNumbers', pick, value },
});

const undisturbed = { deleteCreated: false, deaths: [null, null, null] } as const;
/** It speaks of the contact, and changes nothing. */
const bystander: Act['other'] = {
  feed: 'main',
  lines: [line('main', { firstName: 'Fir' })],
  changed: [line('main', {}, sameCell)],
};

export const knownActs: readonly KnownAct[] = [
  {
    name: 'a contact that two feeds speak of is deleted and made again, and keeps what people take out of it',
    act: {
      feed: 'main',
      lines: [line('main', { firstName: 'Fir', company: 'Elm', phone: one })],
      other: {
        feed: 'crm',
        lines: [line('crm', { firstName: likeCell, 'phone work': likeCell })],
        changed: [line('crm', { lastName: 'Oak' }, sameCell)],
      },
      edits: [[], [], [remove(0)]],
      deleteCreated: true,
      deaths: [null, null, null],
    },
  },
  {
    name: 'a contact that the run made is not deleted where people typed its number in again under another label',
    act: {
      ...{ feed: 'crm', lines: [line('crm', { firstName: 'Fir', 'phone work': one })], other: bystander },
      ...{ edits: [[], [remove(0), typeIn(one)], []], deleteCreated: true, deaths: [null, null, null] },
    },
  },
  {
    name: 'people remove a number that the run has put and type it in again under another label, and it stays',
    before: [drop('crm', { firstName: 'Fir' })],
    act: {
      ...{ feed: 'crm', lines: [line('crm', { firstName: 'Fir', 'phone work': one })], ...undisturbed },
      ...{ other: bystander, edits: [[], [remove(0), typeIn(one)], []] },
    },
  },
  {
    name: 'they type it in again under the label that it had, and it is taken back',
    before: [drop('shop', { firstName: 'Fir', 'phone work': two })],
    act: {
      ...{ feed: 'crm', lines: [line('crm', { firstName: 'Fir', 'phone work': one })], ...undisturbed },
      ...{ other: bystander, edits: [[], [remove(1), retype(0, one)], []] },
    },
  },
  {
    name: 'a value that people typed in and one file said too is put back, and another feed does not write over it',
    before: [
      drop('main', { firstName: 'Fir' }),
      { do: 'finish' },
      { do: 'edit', key, edit: { what: 'set', field: 'role', value: 'by hand' }, during: null },
      drop('main', { role: 'by hand' }),
    ],
    act: {
      ...{ feed: 'main', lines: [line('main', { role: 'Elm' })], ...undisturbed, isLeftUndone: true },
      other: {
        feed: 'crm',
        lines: [line('crm', { firstName: 'Fir' })],
        changed: [line('crm', { role: 'Oak' }, sameCell)],
      },
      edits: [[], [], []],
    },
  },
];

export const asTakenBack = ({ act, before }: KnownAct, patchMode: Story['patchMode']): TakenBackStory => ({
  act,
  story: {
    patchMode,
    commands: before ?? [],
  },
});
