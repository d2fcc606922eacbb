/**
 * The commands: what files, people, machines and networks do to the product. Plain data, so that a sequence can be
 * printed, shrunk and played again.
 */
import fc from 'fast-check';

export const feeds = ['main', 'crm'] as const;
export type Feed = (typeof feeds)[number];

export const keys = ['k-0', 'k-1', 'k-2', 'k-3', 'k-4'] as const;
export type Key = (typeof keys)[number];

/** One line of a file. Role and phone are drawn from small alphabets. */
export interface FileLine {
  readonly key: Key;
  readonly role: number;
  readonly phone: number;
}

export type Command =
  | { readonly do: 'drop'; readonly feed: Feed; readonly lines: readonly FileLine[] }
  | { readonly do: 'edit'; readonly key: Key; readonly what: 'role' | 'addPhone' | 'delete' }
  | { readonly do: 'edit'; readonly key: Key; readonly what: 'removePhone'; readonly pick: number }
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
  /** `together`: the next job goes to both workers at once; else the last one is delivered again. */
  | { readonly do: 'redeliver'; readonly together: boolean }
  | { readonly do: 'reorder'; readonly by: number }
  | { readonly do: 'work'; readonly worker: 0 | 1; readonly jobs: number };

/**
 * Within what the product assumes: commits land within 30 s, lists show them within 10 s (`rules.md`, D and V). Updates are
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

const drop = fc.record({
  do: is('drop'),
  feed: fc.constantFrom(...feeds),
  lines: fc.uniqueArray(fc.record({ key, role: fc.nat(2), phone: fc.nat(2) }), {
    selector: (line) => line.key,
    minLength: 1,
    maxLength: keys.length,
  }),
});
const edit = fc.oneof(
  fc.record({ do: is('edit'), key, what: fc.constantFrom('role', 'role', 'addPhone', 'delete') }),
  fc.record({ do: is('edit'), key, what: is('removePhone'), pick: fc.nat(5) }),
);
const crash = fc.record({
  do: is('crash'),
  worker,
  effect: fc.nat(24),
  moment: fc.constantFrom('before', 'after'),
  noticed: fc.boolean(),
});

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: drop },
  { weight: 4, arbitrary: edit },
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
  { weight: 2, arbitrary: fc.record({ do: is('redeliver'), together: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: is('reorder'), by: fc.nat(9) }) },
  { weight: 12, arbitrary: fc.record({ do: is('work'), worker, jobs: fc.integer({ min: 1, max: 6 }) }) },
);

/** A service that merges or replaces what a PATCH leaves out (`facts.md`), and what happens to it. */
export interface Story {
  readonly patchMode: 'merge' | 'replace';
  readonly commands: readonly Command[];
}

export const story: fc.Arbitrary<Story> = fc.record({
  patchMode: fc.constantFrom('merge', 'replace'),
  commands: fc.array(command, { minLength: 1, maxLength: 50, size: 'max' }),
});
