/**
 * The commands: what files, people, machines and networks do to the product. Plain data, so that a sequence can be
 * printed, shrunk and played again.
 */
import fc from 'fast-check';
import { type FieldPolicy, fieldPolicies } from '#src/contacts/policies.ts';

export const feeds = ['main', 'crm', 'shop'] as const;
export type Feed = (typeof feeds)[number];
/** `main` is there always. */
export type NamedFeed = Exclude<Feed, 'main'>;

export const keys = ['k-0', 'k-1', 'k-2'] as const;
export type Key = (typeof keys)[number];

/** What each feed's files name besides the key, in the order of their columns: some columns are the same, some are not. */
export const columnsOf = {
  main: ['firstName', 'company', 'role', 'email', 'phone'],
  crm: ['firstName', 'lastName', 'role', 'email', 'phone work', 'phone mobile', 'custom.account_manager'],
  shop: ['firstName', 'lastName', 'company', 'role', 'phone work', 'custom.account_manager', 'custom.seats'],
} as const;
export type Column = (typeof columnsOf)[Feed][number];

/** A cell that says what the feed's last file said. Others are literal: blank, `#CLEAR`, or a value. */
export const sameCell = '=';
/** In a file of the other feed of an act: what the file before it says in its column of that kind. */
export const likeCell = '~';
export const clearCell = '#CLEAR';

const names = ['Fir', 'Elm', 'ELM', 'Oak'] as const;
const phones = ['+14155550100', '+14155550101', '+14155550102'] as const;
const emails = ['ann@example.com', 'bea@example.com', 'Bea@example.com'] as const;
const seats = ['1', '2', '3'] as const;

/** Small alphabets, so that feeds and people often say the same, or the same in another case. */
export function valuesOf(column: Column): readonly string[] {
  if (column.startsWith('phone')) return phones;
  if (column === 'email') return emails;
  return column === 'custom.seats' ? seats : names;
}

export interface FileLine {
  readonly key: Key;
  /** As many as the feed has columns. */
  readonly cells: readonly string[];
}

/** At that effect of the worker, counted from now, instead of at once. */
export interface During {
  readonly worker: 0 | 1;
  readonly effect: number;
}

export const editedFields = [
  'firstName',
  'lastName',
  'company',
  'role',
  'custom.account_manager',
  'custom.seats',
] as const;
export type EditedField = (typeof editedFields)[number];
export type ItemList = 'emails' | 'phoneNumbers';

export type Edit =
  /** An empty value clears the field. */
  | { readonly what: 'set'; readonly field: EditedField; readonly value: string }
  | { readonly what: 'add'; readonly list: ItemList; readonly value: string }
  | { readonly what: 'remove'; readonly list: ItemList; readonly pick: number }
  | { readonly what: 'retype'; readonly list: ItemList; readonly pick: number; readonly value: string }
  | { readonly what: 'delete' }
  /** A contact with this key, made in the app; passed over where there is one, or where work is going on. */
  | { readonly what: 'make'; readonly firstName: string; readonly role: string; readonly phone: string };

export type Command =
  | { readonly do: 'drop'; readonly feed: Feed; readonly lines: readonly FileLine[] }
  | { readonly do: 'edit'; readonly key: Key; readonly edit: Edit; readonly during: During | null }
  /** `noticed`: others on the host see that the process is dead; else they wait for its leases to end. */
  | {
      readonly do: 'crash';
      readonly worker: 0 | 1;
      readonly effect: number;
      readonly moment: 'before' | 'after';
      readonly noticed: boolean;
    }
  | { readonly do: 'pause' | 'resume' | 'clear' | 'flush' }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'fault'; readonly specs: readonly string[] }
  /** From now on lists show contacts as they were so long ago. */
  | { readonly do: 'staleLists'; readonly ms: number }
  /** `together`: the next job goes to both workers at once; else the last one is delivered again. */
  | { readonly do: 'redeliver'; readonly together: boolean }
  | { readonly do: 'reorder'; readonly by: number }
  | { readonly do: 'work'; readonly worker: 0 | 1; readonly jobs: number }
  /** Everything is worked to its end; then the feed has neither folder nor entry until its next file comes. */
  | { readonly do: 'away'; readonly feed: NamedFeed }
  /** A file of all that the feed has named, and says the same of; but for the last name, where one is given. */
  | { readonly do: 'repeat'; readonly feed: Feed; readonly lastName: string | null }
  /** Everything is worked to its end. */
  | { readonly do: 'finish' };

/**
 * Within what the product assumes: commits land within 30 s, lists show them within 10 s (`docs/rules.md`, D and V). Updates are
 * never late: one that lands after a person's edit, or after a newer update, overwrites it, and no client can tell.
 */
export const faultSpecs = [
  'create:dropAfter',
  'create:dropAfter:50%',
  'create:dropBefore:50%',
  'create:status=503:50%',
  'create:status=503',
  'create:lateCommit=20s',
  'create:lateCommit=3s:50%',
  'create:hangAfter=5ms:50%',
  'create:truncated:50%',
  'create:notJson:50%',
  'create:status=429:50%',
  'update:dropAfter',
  'update:dropAfter:50%',
  'update:dropBefore:50%',
  'update:status=503:50%',
  'update:hangAfter=5ms:50%',
  'update:truncated:50%',
  'update:status=429;retryAfter=2:50%',
  'list:listLag=5s',
  'list:dropBefore:50%',
  'list:status=503:30%',
  'list:status=503',
  'list:status=429:50%',
  'list:truncated:30%',
  'get:status=503:50%',
  '*:status=503:30%',
  '*:dropAfter:30%',
] as const;

const key = fc.constantFrom(...keys);
const worker = fc.constantFrom<0 | 1>(0, 1);
const is = <Name extends string>(name: Name) => fc.constant(name);

/** A name is always there: a contact with nothing but a key is never made. */
const cellOf = (column: Column): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: is(sameCell) },
    { weight: 5, arbitrary: fc.constantFrom(...valuesOf(column)) },
    { weight: column === 'firstName' ? 0 : 1, arbitrary: fc.constantFrom('', clearCell) },
  );

const dropOf = (feed: Feed): fc.Arbitrary<Extract<Command, { do: 'drop' }>> =>
  fc.record({
    do: is('drop'),
    feed: fc.constant(feed),
    lines: fc.uniqueArray(fc.record({ key, cells: fc.tuple(...columnsOf[feed].map(cellOf)) }), {
      selector: (line) => line.key,
      minLength: 1,
      maxLength: keys.length,
    }),
  });
const drop = fc.oneof(...feeds.map(dropOf));

const listed = fc.oneof(
  fc.record({ list: fc.constant<ItemList>('phoneNumbers'), value: fc.constantFrom(...phones, '+14155550150') }),
  fc.record({ list: fc.constant<ItemList>('emails'), value: fc.constantFrom('ann@example.com', 'hand@example.com') }),
);
const set = fc.oneof(
  ...editedFields.map((field) =>
    fc.record({
      what: is('set'),
      field: fc.constant(field),
      value: fc.constantFrom(...valuesOf(field), field === 'custom.seats' ? '9' : 'by hand', ...noValue(field)),
    }),
  ),
);
function noValue(field: EditedField): readonly string[] {
  return field === 'firstName' ? [] : [''];
}
const addition = listed.map((one) => ({ what: 'add' as const, ...one }));
const removal = fc.record({
  what: is('remove'),
  list: fc.constantFrom<ItemList>('phoneNumbers', 'emails'),
  pick: fc.nat(3),
});
const retyping = fc.tuple(listed, fc.nat(3)).map(([one, pick]) => ({ what: 'retype' as const, pick, ...one }));
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 7, arbitrary: set },
  { weight: 2, arbitrary: addition },
  { weight: 2, arbitrary: removal },
  { weight: 1, arbitrary: retyping },
  { weight: 1, arbitrary: fc.record({ what: is('delete') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: is('make'),
      firstName: fc.constantFrom(...names),
      role: fc.constantFrom('', ...names),
      phone: fc.constantFrom('', ...phones),
    }),
  },
);
const during = fc.option(fc.record({ worker, effect: fc.nat(12) }), { freq: 1 });
const crash = fc.record({
  do: is('crash'),
  worker,
  effect: fc.nat(24),
  moment: fc.constantFrom('before', 'after'),
  noticed: fc.boolean(),
});

const away = fc.record({ do: is('away'), feed: fc.constantFrom<NamedFeed>('crm', 'shop') });

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: drop },
  { weight: 6, arbitrary: fc.record({ do: is('edit'), key, edit, during }) },
  { weight: 3, arbitrary: crash },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume', 'flush', 'clear') }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: is('advance'), ms: fc.constantFrom(50, 1_000, 6_000, 20_000, 45_000, 90_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('fault'),
      specs: fc.uniqueArray(fc.constantFrom(...faultSpecs), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('staleLists'), ms: fc.constantFrom(0, 3_000, 9_000) }) },
  { weight: 2, arbitrary: fc.record({ do: is('redeliver'), together: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: is('reorder'), by: fc.nat(9) }) },
  { weight: 10, arbitrary: fc.record({ do: is('work'), worker, jobs: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: is('repeat'), feed: fc.constantFrom(...feeds), lastName: fc.constant(null) }),
  },
  { weight: 3, arbitrary: fc.record({ do: is('finish') }) },
  { weight: 1, arbitrary: away },
);

/** A service that merges or replaces what a PATCH leaves out (`docs/facts.md`), and what happens to it. */
export interface Story {
  readonly patchMode: 'merge' | 'replace';
  /** Of the company, in the mapping of every feed; absent: the generic layout, which has none. */
  readonly policy?: FieldPolicy;
  readonly commands: readonly Command[];
}

/** The field that has the policy of a story. */
export const policedField = 'company';

const policy = fc
  .option(fc.constantFrom(...fieldPolicies), { nil: undefined, freq: 2 })
  .map((chosen) => (chosen === undefined ? {} : { policy: chosen }));

const patchMode = fc.constantFrom<Story['patchMode']>('merge', 'replace');

export const story: fc.Arbitrary<Story> = fc
  .tuple(policy, patchMode, fc.array(command, { minLength: 1, maxLength: 50, size: 'max' }))
  .map(([chosen, mode, commands]) => ({ ...chosen, patchMode: mode, commands }));

/** What happens one after the other, each file worked to its end before the next thing: no machine fails in it. */
const calmCommand = fc.oneof(
  { weight: 3, arbitrary: drop },
  { weight: 2, arbitrary: fc.record({ do: is('edit'), key, edit, during: fc.constant(null) }) },
  { weight: 1, arbitrary: away },
);
export const calmStory: fc.Arbitrary<Story> = fc
  .tuple(policy, patchMode, fc.array(calmCommand, { minLength: 2, maxLength: 16, size: 'max' }))
  .map(([chosen, mode, commands]) => ({ ...chosen, patchMode: mode, commands }));

/** A run that has nothing to do with what is looked at: a feed says again what it said, in all columns or in all but one. */
export interface Unrelated {
  /** After so many commands. */
  readonly after: number;
  readonly feed: Feed;
  /** What its files say of the last name from then on; null: what they said. */
  readonly lastName: string | null;
}

/** People's values are their own here: what a file says too is agreed on by any run that happens to look. */
const ownEdit = fc.oneof(
  fc.record({
    what: is('set'),
    field: fc.constantFrom<EditedField>('company', 'role', 'custom.account_manager'),
    value: fc.constantFrom('by hand', 'BY HAND', 'by another hand'),
  }),
  fc.record({ what: is('add'), list: fc.constant<ItemList>('phoneNumbers'), value: is('+14155550150') }),
  fc.record({ what: is('remove'), list: fc.constantFrom<ItemList>('phoneNumbers', 'emails'), pick: fc.nat(3) }),
);

export interface InterruptedStory {
  readonly story: Story;
  readonly unrelated: readonly Unrelated[];
}

export const interruptedStory: fc.Arbitrary<InterruptedStory> = fc.record({
  story: fc.record({
    patchMode,
    commands: fc.array(
      fc.oneof(
        { weight: 3, arbitrary: drop },
        { weight: 2, arbitrary: fc.record({ do: is('edit'), key, edit: ownEdit, during: fc.constant(null) }) },
      ),
      { minLength: 3, maxLength: 12, size: 'max' },
    ),
  }),
  unrelated: fc.array(
    fc.record({
      after: fc.nat(12),
      feed: fc.constantFrom(...feeds),
      lastName: fc.option(fc.constantFrom(...names), { freq: 2 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

/** What people save in a contact that stays. */
export interface KeyEdit {
  readonly key: Key;
  readonly edit: Exclude<Edit, { what: 'delete' } | { what: 'make' }>;
}

/**
 * A plan is looked at, carried out and taken back, the same file comes again, and the undo is taken back. Another feed speaks of the
 * same contacts meanwhile, and says the same and something else at the end.
 */
export interface Act {
  readonly feed: Feed;
  readonly lines: readonly FileLine[];
  /** What another feed says after the import; again after the last undo; and then with these cells. */
  readonly other: Pick<Act, 'feed' | 'lines'> & { readonly changed: readonly FileLine[] };
  /** Between the plan and the import, between the import and the undo, and after the last undo. */
  readonly edits: readonly [readonly KeyEdit[], readonly KeyEdit[], readonly KeyEdit[]];
  readonly deleteCreated: boolean;
  /** The undo is not undone: what the other feed says at the end meets what it put back. */
  readonly isLeftUndone?: true;
  /** The engine dies so many effects after the import, the undo, the undo of the undo has begun. */
  readonly deaths: readonly [number | null, number | null, number | null];
}

/** A story whose last act is a plan, an import, and its undo (`taken-back.ts`). */
export interface TakenBackStory {
  readonly story: Story;
  readonly act: Act;
}

const saved = fc.oneof(set, addition, removal, retyping);
const edits = fc.array(fc.record({ key, edit: saved }), { maxLength: 4, size: 'max' });

/** Half of its lines say what the file before says; where they say more, that is a change of the contacts. */
const otherThan = (one: Feed): fc.Arbitrary<Act['other']> =>
  fc.constantFrom(...feeds.filter((feed) => feed !== one)).chain((feed) => {
    const columns: readonly Column[] = columnsOf[feed];
    const like = fc.constant(columns.map(() => likeCell));
    const mixed = fc.tuple(...columns.map((column) => fc.oneof(is(likeCell), cellOf(column))));
    const changed = fc.tuple(...columns.map((column) => fc.oneof(is(sameCell), is(sameCell), cellOf(column))));
    return fc
      .uniqueArray(fc.record({ key, cells: fc.oneof(like, mixed), changed }), {
        selector: (line) => line.key,
        minLength: 1,
        maxLength: keys.length,
        size: 'max',
      })
      .map((lines) => ({
        feed,
        lines: lines.map((line) => ({ key: line.key, cells: line.cells })),
        changed: lines.map((line) => ({ key: line.key, cells: line.changed })),
      }));
  });
const death = fc.option(fc.nat(40), { freq: 1 });

/** Where nothing has happened before, the file of the act makes its contacts; where people leave them alone, they can be deleted. */
const first = fc.oneof(
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 3, arbitrary: fc.array(command, { maxLength: 14, size: 'max' }) },
);
const fewEdits = fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 3, arbitrary: edits });

export const takenBackStory: fc.Arbitrary<TakenBackStory> = fc.record({
  story: fc
    .tuple(policy, patchMode, first)
    .map(([chosen, mode, commands]) => ({ ...chosen, patchMode: mode, commands })),
  act: drop
    .chain(({ feed, lines }) =>
      fc.record({
        feed: fc.constant(feed),
        lines: fc.constant(lines),
        other: otherThan(feed),
        edits: fc.tuple(fewEdits, fewEdits, edits),
        deleteCreated: fc.boolean(),
        leaves: fc.constantFrom<{ readonly isLeftUndone?: true }>({}, {}, { isLeftUndone: true }),
        deaths: fc.tuple(death, death, death),
      }),
    )
    .map(({ leaves, ...act }) => ({ ...act, ...leaves })),
});
