/**
 * Any two nights with any edits between them: a plan counts the rows as the import then does; an undo brings back what the import
 * changed and people have not changed since, and nothing else; and the same file does not do it again.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginUndo } from '#src/operations/undo.ts';
import { stageUndo } from '#src/runs/stage-undo.ts';
import type { Contact } from '#src/wire/contact.ts';
import { csv } from '../runs/support/runs-bench.ts';
import { openPlanBench, type PlanBench } from './support/plan-bench.ts';

const keys = ['k-0', 'k-1', 'k-2'] as const;
const names = ['Fir', 'Elm', 'Oak'] as const;
const phones = ['+14155550100', '+14155550101', '+14155550102'] as const;
const emails = ['ann@example.com', 'bea@example.com'] as const;
const columns = ['firstName', 'lastName', 'company', 'role', 'phone mobile', 'phone work', 'email', 'custom'] as const;

const cellOf = (column: (typeof columns)[number]): fc.Arbitrary<string> => {
  const values = column.startsWith('phone') ? phones : column === 'email' ? emails : names;
  const value = fc.constantFrom<string>(...values);
  return column === 'firstName'
    ? value
    : fc.oneof({ weight: 5, arbitrary: value }, { weight: 2, arbitrary: fc.constantFrom('', '#CLEAR') });
};

const file = fc.uniqueArray(fc.record({ key: fc.constantFrom(...keys), cells: fc.tuple(...columns.map(cellOf)) }), {
  selector: ({ key }) => key,
  minLength: 1,
});

const edit = fc.oneof(
  fc.record({
    what: fc.constant('set' as const),
    key: fc.constantFrom(...keys),
    field: fc.constantFrom('lastName', 'company', 'role', 'custom'),
    value: fc.constantFrom<string | null>('Yew', 'Elm', null),
  }),
  fc.record({
    what: fc.constant('add' as const),
    key: fc.constantFrom(...keys),
    value: fc.constantFrom(...phones, '+14155550109'),
  }),
  fc.record({ what: fc.constant('drop' as const), key: fc.constantFrom(...keys) }),
  fc.record({ what: fc.constant('relabel' as const), key: fc.constantFrom(...keys) }),
);

/** What a contact holds: each field and each item by its name, with its value, or its label. */
type Held = ReadonlyMap<string, string>;

function heldBy({ defaultFields, customFields }: Contact): Held {
  const { emails: mails, phoneNumbers, ...scalars } = defaultFields;
  const texts = Object.entries(scalars).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [[name, value] as const],
  );
  const customs = customFields.flatMap(({ key, value }) =>
    value === null || value === '' ? [] : [[`custom.${key}`, String(value)] as const],
  );
  const items = [...mails, ...phoneNumbers].flatMap(({ name, value }) =>
    value === null ? [] : [[`item ${value}`, name ?? ''] as const],
  );
  return new Map([...texts, ...customs, ...items]);
}

async function picture({ bench }: PlanBench): Promise<ReadonlyMap<string, Held>> {
  return new Map((await bench.world.contacts()).map((contact) => [contact.externalId ?? '', heldBy(contact)]));
}

async function carryOut(
  { bench }: PlanBench,
  customKey: string,
  one: typeof edit extends fc.Arbitrary<infer Edit> ? Edit : never,
): Promise<void> {
  const contact = (await bench.world.contacts()).find(({ externalId }) => externalId === one.key);
  if (contact === undefined) return;
  const { id, defaultFields } = contact;
  let { customFields } = contact;
  let { phoneNumbers } = defaultFields;
  const fields: Record<string, unknown> = {};
  const [first, ...others] = phoneNumbers;
  if (one.what === 'set' && one.field === 'custom')
    customFields = [
      ...customFields.filter(({ key }) => key !== customKey),
      { key: customKey, value: one.value } as (typeof customFields)[number],
    ];
  else if (one.what === 'set') fields[one.field] = one.value;
  else if (one.what === 'add' && !phoneNumbers.some(({ value }) => value === one.value))
    phoneNumbers = [...phoneNumbers, { name: 'by hand', value: one.value } as (typeof phoneNumbers)[number]];
  else if (one.what === 'drop' && first !== undefined) phoneNumbers = [{ ...first, value: null }, ...others];
  else if (one.what === 'relabel' && first !== undefined) phoneNumbers = [{ ...first, name: 'relabelled' }, ...others];
  await bench.world.byHand('PATCH', `/v1/contacts/${id}`, {
    defaultFields: { ...defaultFields, ...fields, phoneNumbers },
    customFields,
  });
}

/** What an undo must leave of one value: before the run, after it, and when it is undone. */
function expected(before: string | undefined, left: string | undefined, now: string | undefined): string | undefined {
  return before === left || now !== left ? now : before;
}

describe.each(['merge', 'replace'] as const)('where PATCH means %s', (patchMode) => {
  it('a plan counts as the import, and an undo brings back what is still as it left it', async () => {
    await fc.assert(
      fc.asyncProperty(
        file,
        fc.array(edit, { maxLength: 3 }),
        file,
        fc.array(edit, { maxLength: 3 }),
        async (a, editsBefore, b, editsAfter) => {
          const planned = await openPlanBench({ patchMode });
          const { bench } = planned;
          const { parts } = bench;
          const customKey =
            (await parts.workspace.listCustomFields())?.find(({ type }) => type === 'string')?.key ?? '';
          const header = ['externalId', ...columns].join(',').replace(/custom$/, `custom.${customKey}`);
          const text = (lines: typeof a) =>
            csv(
              lines.map(({ key, cells }) => [key, ...cells].join(',')),
              header,
            );
          await bench.import('people.csv', text(a));
          for (const one of editsBefore) await carryOut(planned, customKey, one);
          const before = await picture(planned);

          const { totals } = (await planned.plan('people.csv', text(b))).plan;
          expect(await picture(planned)).toEqual(before);
          const run = await bench.import('people.csv', text(b));
          expect(run.counts).toMatchObject({ ...totals.rows, heldFields: totals.heldFields });
          const left = await picture(planned);
          for (const one of editsAfter) await carryOut(planned, customKey, one);
          const now = await picture(planned);
          if ((await bench.ledger.contacts.journal({ runId: run.id, limit: 1 })).length === 0) return;

          const home = {
            ledger: bench.ledger,
            clock: parts.clock,
            log: parts.log,
            actor: { who: 'ann', by: 'command' as const },
            submit: parts,
          };
          const { run: entered } = await beginUndo(home, run, { deleteCreated: false, accept: true, reason: null });
          await stageUndo(parts, entered, new AbortController().signal);
          expect((await bench.finish(await bench.apply(await bench.again(entered)))).state).toBe('done');
          const after = await picture(planned);
          for (const [key, held] of now) {
            const [was, then] = [before.get(key), left.get(key)];
            const all = new Set([...held.keys(), ...(was?.keys() ?? []), ...(then?.keys() ?? [])]);
            const wanted = [...all].flatMap((name) => {
              // A contact that the run made stays as it is.
              const value =
                was === undefined ? held.get(name) : expected(was.get(name), then?.get(name), held.get(name));
              return value === undefined ? [] : [[name, value] as const];
            });
            expect(new Map([...(after.get(key) ?? [])].sort()), key).toEqual(new Map(wanted.sort()));
          }
          await bench.import('people.csv', text(b));
          expect(await picture(planned)).toEqual(after);
          await bench.world.expectSound();
        },
      ),
      { numRuns: 6 },
    );
  });
});
