/**
 * The last act of a story: a plan is looked at, people edit, the plan is carried out, people edit, the run is taken back, the same file comes
 * again, and the undo is taken back; workers die meanwhile. The referee compares pictures of the contacts, and knows nothing else
 * (`docs/plans.md`).
 */
import { PatchbayError } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { ReadPlan } from '#test/plans/support/read-plan.ts';
import { type Act, type Key, type KeyEdit, policedField, type Story } from './commands.ts';
import { edit } from './edits.ts';
import { readFates } from './fates.ts';
import { csvOf, type Model, writtenCells } from './model.ts';
import { fieldsOf, type Picture, pictureOf, there, valueIn } from './picture.ts';
import type { World } from './world.ts';

type Pictures = ReadonlyMap<string, Picture>;

/** More than any write can land late. */
const quietMs = 120_000;

/** Everything is at rest, and the service without faults. @returns each breach as one sentence. */
export async function playAct(
  world: World,
  model: Model,
  act: Act,
  policy: Story['policy'],
): Promise<readonly string[]> {
  const breaches: string[] = [];
  const pictures = async (): Promise<Pictures> =>
    new Map((await world.contacts()).map((contact) => [contact.externalId ?? '', pictureOf(contact)]));
  const byHand = async (edits: readonly KeyEdit[]) => {
    for (const one of edits) await edit(world, model, { do: 'edit', ...one, during: null });
  };
  const through = async (run: RunRecord, death: number | null): Promise<RunRecord> => {
    if (death !== null) world.crash(0, death, death % 2 === 0 ? 'before' : 'after', true);
    world.follow(run);
    await world.finish();
    const ended = await world.ledger.runs.get(run.id);
    if (ended?.state !== 'done' && ended?.state !== 'doneWithDead')
      breaches.push(`${run.fileName} ended as ${ended?.state} (${ended?.reason?.code})`);
    return ended ?? run;
  };

  await world.advance(quietMs);
  const cells = act.lines.map((line) => ({ key: line.key, cells: writtenCells(model, act.feed, line) }));
  const text = csvOf(act.feed, cells);
  const shown = await pictures();
  const plan = await world.desk.plan(act.feed, text);
  breaches.push(...differences('after the plan', shown, await pictures()));

  await byHand(act.edits[0]);
  const before = await pictures();
  const run = await through(await world.desk.importAsPlanned(act.feed, text, plan), act.deaths[0]);
  const left = await pictures();
  const moved = await movedKeys(world, run, cells);
  breaches.push(...carriedOut(plan, { shown, before, left }, moved));

  await byHand(act.edits[1]);
  const now = await pictures();
  const undo = await undone(world, run, act.deleteCreated);
  if (undo === null) return [...breaches, ...differences('though nothing was written', before, left)];
  const ended = await through(undo, act.deaths[1]);
  const after = await pictures();
  breaches.push(...takenBack('the undo', { before, left, now, after }, act.deleteCreated));

  const again = await through(await world.drop(act.feed, text), null);
  const next = await pictures();
  if (again.counts.created > 0) breaches.push('the same file made contacts again');
  breaches.push(...notDoneAgain({ now, after, next }, policy));

  const redo = await undone(world, ended, false);
  if (redo === null) return [...breaches, ...differences('though the undo wrote nothing', now, after)];
  await through(redo, act.deaths[2]);
  const end = await pictures();
  breaches.push(...takenBack('the undo of the undo', { before: now, left: after, now: next, after: end }, false));
  return breaches;
}

async function undone(world: World, run: RunRecord, deleteCreated: boolean): Promise<RunRecord | null> {
  try {
    return await world.desk.undo(run, deleteCreated);
  } catch (error) {
    if (error instanceof PatchbayError && error.code === 'nothingToUndo') return null;
    throw error;
  }
}

async function movedKeys(
  world: World,
  run: RunRecord,
  cells: readonly { readonly key: Key }[],
): Promise<ReadonlySet<string>> {
  const fates = await readFates(world.folders.reports, [run.id]);
  const place = { runId: run.id, sequence: 0, feed: 'main', cells: {} } as const;
  return new Set(
    cells.flatMap(({ key }, index) =>
      fates.of({ ...place, line: index + 2 }).skipped === 'moved' ? [key as string] : [],
    ),
  );
}

function differences(when: string, one: Pictures, two: Pictures): readonly string[] {
  return keysOf(one, two).flatMap((key) =>
    changedFields(one.get(key), two.get(key)).map(
      (field) => `${key}: ${field} is "${valueAt(two, key, field)}" ${when}, and was "${valueAt(one, key, field)}"`,
    ),
  );
}

/** What was shown and nothing else is written, or nothing at all where people came in between. */
function carriedOut(
  { contacts }: ReadPlan,
  { shown, before, left }: { readonly shown: Pictures; readonly before: Pictures; readonly left: Pictures },
  moved: ReadonlySet<string>,
): readonly string[] {
  const planned = new Map(contacts.map((contact) => [contact.key, contact.changes]));
  return keysOf(before, left).flatMap((key) => {
    const isEdited = changedFields(shown.get(key), before.get(key)).length > 0;
    const wrote = changedFields(before.get(key), left.get(key));
    if (moved.has(key)) {
      const breaches = wrote.map((field) => `${key}: ${field} was written, though the row was skipped as moved`);
      return isEdited ? breaches : [...breaches, `${key}: skipped as moved, and nobody has edited it`];
    }
    const wanted = new Map(
      (planned.get(key) ?? []).flatMap(({ field, to, why }): [string, string][] => {
        if (why === 'relabelled') return [];
        const isItem = /^(?:email|phone)\./.test(field);
        return [[field, to === null ? '' : isItem ? there : String(to)]];
      }),
    );
    return [...new Set([...wrote, ...wanted.keys()])].flatMap((field) => {
      const value = wanted.get(field) ?? valueAt(before, key, field);
      const is = valueAt(left, key, field);
      return is === value ? [] : [`${key}: the plan showed ${field} as "${value}", and the import made it "${is}"`];
    });
  });
}

/** Each value that is still as it was left is what it was before; nothing else has changed. */
function takenBack(
  what: string,
  states: { readonly before: Pictures; readonly left: Pictures; readonly now: Pictures; readonly after: Pictures },
  deleteCreated: boolean,
): readonly string[] {
  const { before, left, now, after } = states;
  return keysOf(before, left, now, after).flatMap((key) => {
    const isMade = !before.has(key) && left.has(key);
    const isAsLeft = changedFields(left.get(key), now.get(key)).length === 0;
    if (isMade && deleteCreated && isAsLeft)
      return after.has(key) ? [`${key}: ${what} left a contact that nobody has changed`] : [];
    if (now.has(key) && !after.has(key)) return [`${key}: ${what} deleted a contact`];
    // What an undo deleted, and nothing else, is made again by the undo of that.
    if (!now.has(key) && before.has(key) && !left.has(key))
      return changedFields(before.get(key), after.get(key)).map(
        (field) =>
          `${key}: ${field} was "${valueAt(before, key, field)}", and ${what} made it "${valueAt(after, key, field)}"`,
      );
    if (!now.has(key)) return after.has(key) ? [`${key}: ${what} made a contact`] : [];
    return fieldsOf(...[before, left, now, after].map((all) => all.get(key) ?? new Map())).flatMap((field) => {
      const [was, made, is] = [before, left, now].map((all) => valueAt(all, key, field));
      const isBack = !isMade && was !== made && is === made;
      const wanted = isBack ? was : is;
      const found = valueAt(after, key, field);
      if (found === wanted) return [];
      const course = `"${was}", left as "${made}", then "${is}"`;
      return [`${key}: ${field} was ${course}, and ${what} made it "${found}"`];
    });
  });
}

/** The policy of one field may say that the file's value is written each night. */
function notDoneAgain(
  { now, after, next }: { readonly now: Pictures; readonly after: Pictures; readonly next: Pictures },
  policy: Story['policy'],
): readonly string[] {
  return keysOf(now, after).flatMap((key) => {
    if (!after.has(key)) return next.has(key) ? [`${key}: the same file made the deleted contact again`] : [];
    return changedFields(now.get(key), after.get(key)).flatMap((field) => {
      if (field === policedField && policy !== undefined && policy !== 'shared') return [];
      const [back, found] = [valueAt(after, key, field), valueAt(next, key, field)];
      return back === found
        ? []
        : [`${key}: ${field} was taken back to "${back}", and the same file made it "${found}"`];
    });
  });
}

const keysOf = (...all: readonly Pictures[]): readonly string[] => [...new Set(all.flatMap((one) => [...one.keys()]))];

const valueAt = (all: Pictures, key: string, field: string): string => valueIn(all.get(key) ?? new Map(), field);

function changedFields(one: Picture = new Map(), two: Picture = new Map()): readonly string[] {
  return fieldsOf(one, two).filter((field) => valueIn(one, field) !== valueIn(two, field));
}
