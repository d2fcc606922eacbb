/**
 * The last act of a story: a plan is looked at, people edit, the plan is carried out, another feed speaks of the same contacts, people
 * edit, the run is taken back, the same file comes again, and the undo is taken back; then people edit, and the other feed says the
 * same again, and something else. Workers die meanwhile.
 *
 * The referee compares pictures of the contacts (`docs/plans.md`). At the end it plays the rules of each field over all that happened
 * (`replay.ts`), undos as what they are: they move what was agreed, and nothing that a feed has said.
 */
import { PatchbayError } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { ReadPlan } from '#test/plans/support/read-plan.ts';
import { valueBreaches } from './check.ts';
import {
  type Act,
  type Column,
  columnsOf,
  type Feed,
  type FileLine,
  type Key,
  type KeyEdit,
  likeCell,
  policedField,
  type Story,
  sameCell,
} from './commands.ts';
import { edit } from './edits.ts';
import { readFates } from './fates.ts';
import { csvOf, type Model, type WrittenLine, writtenCells } from './model.ts';
import { fieldsOf, labelsOf, type Picture, pictureOf, there, valueIn } from './picture.ts';
import { entered } from './play.ts';
import type { World } from './world.ts';

/** A contact as people see it. An item that is removed and typed in again under another label has changed, and its picture has not. */
interface Look {
  readonly picture: Picture;
  readonly labels: Picture;
}
type Looks = ReadonlyMap<string, Look>;

/** What the contacts were before a run, as it left them, and before and after the undo of it. */
interface Undo {
  readonly before: Looks;
  readonly left: Looks;
  readonly now: Looks;
  readonly after: Looks;
}

/** More than any write can land late. */
const quietMs = 120_000;

/** Everything is at rest, and the service without faults. @returns each breach as one sentence. */
export async function playAct(
  world: World,
  model: Model,
  act: Act,
  policy: Story['policy'],
): Promise<readonly string[]> {
  await world.advance(quietMs);
  const stage = openStage(world, model);
  const { looks, byHand } = stage;
  const lines = written(model, act.feed, act.lines);
  const text = csvOf(act.feed, lines);
  const shown = await looks();
  const plan = await world.desk.plan(act.feed, text);
  const breaches = [...differences('after the plan', shown, await looks())];

  await byHand(act.edits[0]);
  const before = await looks();
  const planned = await world.desk.importAsPlanned(act.feed, text, plan);
  const run = await stage.through(planned, act.feed, lines, act.deaths[0]);
  const left = await looks();
  const moved = await movedKeys(world, run, lines);
  breaches.push(...carriedOut(plan, { shown, before, left }, moved));

  const { feed } = act.other;
  const others = written(model, feed, asBefore(act.feed, lines, act.other));
  await stage.drop(feed, others);
  await byHand(act.edits[1]);
  const named = namedByOthers(model, act.feed, feed, others);
  breaches.push(...(await takeBack(stage, act, { run, before, left, lines, named }, policy)));

  await byHand(act.edits[2]);
  const settled = await looks();
  await stage.drop(feed, others);
  const repeated = await looks();
  breaches.push(...differences(`after ${feed} said the same again`, settled, repeated));
  await stage.drop(feed, written(model, feed, act.other.changed));

  const fates = await readFates(
    world.folders.reports,
    model.runs.map(({ id }) => id),
  );
  const contacts = await world.contacts();
  breaches.push(...stage.breaches, ...valueBreaches(world, model, contacts, fates, policy));
  return breaches;
}

interface Stage {
  looks(): Promise<Looks>;
  byHand(edits: readonly KeyEdit[]): Promise<void>;
  /** Works the run of a file to its end. The engine dies after so many effects. */
  through(run: RunRecord, feed: Feed, lines: readonly WrittenLine[], death: number | null): Promise<RunRecord>;
  drop(feed: Feed, lines: readonly WrittenLine[]): Promise<RunRecord>;
  /** Undoes the run, and works that to its end; null where it wrote nothing. */
  undo(
    run: RunRecord,
    states: Pick<Undo, 'before' | 'left'>,
    how: { readonly deleteCreated: boolean; readonly death: number | null },
  ): Promise<{ readonly run: RunRecord; readonly states: Undo } | null>;
  /** Of runs that did not end well. */
  readonly breaches: readonly string[];
}

function openStage(world: World, model: Model): Stage {
  const breaches: string[] = [];
  const looks = async (): Promise<Looks> =>
    new Map(
      (await world.contacts()).map((contact) => [
        contact.externalId ?? '',
        { picture: pictureOf(contact), labels: labelsOf(contact) },
      ]),
    );
  const finished = async (run: RunRecord, death: number | null): Promise<RunRecord> => {
    if (death !== null) world.crash(0, death, death % 2 === 0 ? 'before' : 'after', true);
    world.follow(run);
    await world.finish();
    const ended = await world.ledger.runs.get(run.id);
    if (ended?.state !== 'done') breaches.push(`${run.fileName} ended as ${ended?.state} (${ended?.reason?.code})`);
    return ended ?? run;
  };
  const through: Stage['through'] = async (run, feed, lines, death) => {
    entered(world, model, run, feed, lines);
    return finished(run, death);
  };
  return {
    breaches,
    looks,
    byHand: async (edits) => {
      for (const one of edits) await edit(world, model, { do: 'edit', ...one, during: null });
    },
    through,
    drop: async (feed, lines) => through(await world.drop(feed, csvOf(feed, lines)), feed, lines, null),
    undo: async (run, { before, left }, { deleteCreated, death }) => {
      const now = await looks();
      const begun = await undone(world, run, deleteCreated);
      if (begun === null) return null;
      world.chronicle.atUndo(true);
      const ended = await finished(begun, death);
      world.chronicle.atUndo(false);
      const after = await looks();
      // Behind the rows of all files before, and ahead of the next one's. The feed is that of a file of the story.
      const place = { feed: run.feed as Feed, sequence: model.runs.length + 0.5 };
      for (const key of keysOf(before, left, now, after)) {
        const pictureIn = (all: Looks): Picture | null => all.get(key)?.picture ?? null;
        world.chronicle.note(key, {
          kind: 'undone',
          ...{ from: pictureIn(now), to: pictureIn(after), before: pictureIn(before), left: pictureIn(left), ...place },
        });
      }
      return { run: ended, states: { before, left, now, after } };
    },
  };
}

const written = (model: Model, feed: Feed, lines: readonly FileLine[]): readonly WrittenLine[] =>
  lines.map((line) => ({ key: line.key, cells: writtenCells(model, feed, line) }));

/** The other feed's lines, with the cells of the file before where they are to be like those. */
function asBefore(feed: Feed, lines: readonly WrittenLine[], other: Pick<Act, 'feed' | 'lines'>): readonly FileLine[] {
  const kindOf = (columns: readonly Column[], index: number): string => {
    const column = columns[index] ?? '';
    if (!column.startsWith('phone')) return column;
    return `phone ${columns.slice(0, index).filter((one) => one.startsWith('phone')).length}`;
  };
  const kinds = columnsOf[feed].map((_, index) => kindOf(columnsOf[feed], index));
  return other.lines.map(({ key, cells }) => {
    const before = lines.find((line) => line.key === key);
    const like = cells.map((cell, index) => {
      if (cell !== likeCell) return cell;
      if (before === undefined) return sameCell;
      return before.cells[kinds.indexOf(kindOf(columnsOf[other.feed], index))] ?? '';
    });
    return { key, cells: like };
  });
}

interface Taken extends Pick<Undo, 'before' | 'left'> {
  readonly run: RunRecord;
  readonly lines: readonly WrittenLine[];
  readonly named: Named;
}

/** What files of other feeds than the run's have said. */
interface Named {
  /** Whether one of them ever said the value: whether it stays depends on what came after. */
  mayStay(key: string, field: string, value: string): boolean;
  /** Whether the file behind the run names the e-mail or phone, which then belongs to its feed, too. */
  stays(key: string, field: string): boolean;
  /** Whether a file ever named the contact. */
  hasSpokenOf(key: string): boolean;
}

function namedByOthers(model: Model, feed: Feed, other: Feed, lines: readonly WrittenLine[]): Named {
  const rowsOf = (key: string) => (model.keys.get(key as Key)?.rows ?? []).filter((row) => row.feed !== feed);
  const isSaid = (column: string, cell: string, field: string, value: string): boolean => {
    const kind = column.split(' ')[0];
    if (kind === 'email' || kind === 'phone') return `${kind}.${cell.toLowerCase()}` === field;
    return column === field && cell.toLowerCase() === value.toLowerCase();
  };
  return {
    hasSpokenOf: (key) => rowsOf(key).length > 0,
    mayStay: (key, field, value) =>
      rowsOf(key).some(({ cells }) =>
        Object.entries(cells).some(([column, cell]) => isSaid(column, cell, field, value)),
      ),
    // `main` owns nothing beside a named feed.
    stays: (key, field) =>
      other !== 'main' &&
      /^(?:email|phone)\./.test(field) &&
      lines.some(
        (line) =>
          line.key === key &&
          line.cells.some((cell, index) => isSaid(columnsOf[other][index] ?? '', cell, field, there)),
      ),
  };
}

/** The run is taken back, the same file comes again, and the undo is taken back. */
async function takeBack(
  stage: Stage,
  { feed, deleteCreated, isLeftUndone, deaths }: Act,
  { run, before, left, lines, named }: Taken,
  policy: Story['policy'],
): Promise<readonly string[]> {
  const { looks } = stage;
  const undo = await stage.undo(run, { before, left }, { deleteCreated, death: deaths[1] });
  if (undo === null) return differences('though nothing was written', before, left);
  const { now, after } = undo.states;
  const breaches = [...takenBack('the undo', undo.states, deleteCreated, named)];

  const again = await stage.drop(feed, lines);
  const next = await looks();
  if (again.counts.created > 0) breaches.push('the same file made contacts again');
  breaches.push(...notDoneAgain({ now, after, next }, policy));

  if (isLeftUndone) return breaches;
  const redo = await stage.undo(undo.run, { before: now, left: after }, { deleteCreated: false, death: deaths[2] });
  if (redo === null) return [...breaches, ...differences('though the undo wrote nothing', now, after)];
  return [...breaches, ...takenBack('the undo of the undo', redo.states, false, named)];
}

async function undone(world: World, run: RunRecord, deleteCreated: boolean): Promise<RunRecord | null> {
  try {
    return await world.desk.undo(run, deleteCreated);
  } catch (error) {
    if (error instanceof PatchbayError && error.code === 'nothingToUndo') return null;
    throw error;
  }
}

async function movedKeys(world: World, run: RunRecord, lines: readonly WrittenLine[]): Promise<ReadonlySet<string>> {
  const fates = await readFates(world.folders.reports, [run.id]);
  const place = { runId: run.id, sequence: 0, feed: 'main', cells: {} } as const;
  return new Set(
    lines.flatMap(({ key }, index) =>
      fates.of({ ...place, line: index + 2 }).skipped === 'moved' ? [key as string] : [],
    ),
  );
}

function differences(when: string, one: Looks, two: Looks): readonly string[] {
  return keysOf(one, two).flatMap((key) =>
    changedFields(one.get(key), two.get(key)).map(
      (field) => `${key}: ${field} is "${valueAt(two, key, field)}" ${when}, and was "${valueAt(one, key, field)}"`,
    ),
  );
}

/** What was shown and nothing else is written, or nothing at all where people came in between. */
function carriedOut(
  { contacts }: ReadPlan,
  { shown, before, left }: { readonly shown: Looks; readonly before: Looks; readonly left: Looks },
  moved: ReadonlySet<string>,
): readonly string[] {
  const planned = new Map(contacts.map((contact) => [contact.key, contact.changes]));
  return keysOf(before, left).flatMap((key) => {
    const isEdited = hasChanged(shown.get(key), before.get(key));
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

/** Each value that is still as it was left, and that no other feed's file names, is what it was before; nothing else has changed. */
function takenBack(
  what: string,
  { before, left, now, after }: Undo,
  deleteCreated: boolean,
  named: Named,
): readonly string[] {
  return keysOf(before, left, now, after).flatMap((key) => {
    const isMade = !before.has(key) && left.has(key);
    const isAsLeft = !hasChanged(left.get(key), now.get(key));
    if (isMade && deleteCreated && isAsLeft && named.hasSpokenOf(key)) return [];
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
    return fieldsOf(...[before, left, now, after].map((all) => all.get(key)?.picture ?? new Map())).flatMap((field) => {
      const [was, made, is] = [before, left, now].map((all) => valueAt(all, key, field));
      const isStill = is === made && labelAt(left, key, field) === labelAt(now, key, field);
      const isBack = !isMade && was !== made && isStill;
      const wanted = isBack && !(is === there && named.stays(key, field)) ? was : is;
      const found = valueAt(after, key, field);
      if (found === wanted || (isBack && found === is && named.mayStay(key, field, is ?? ''))) return [];
      const course = `"${was}", left as "${made}", then "${is}"`;
      return [`${key}: ${field} was ${course}, and ${what} made it "${found}"`];
    });
  });
}

/** The policy of one field may say that the file's value is written each night. */
function notDoneAgain(
  { now, after, next }: { readonly now: Looks; readonly after: Looks; readonly next: Looks },
  policy: Story['policy'],
): readonly string[] {
  return keysOf(now, after).flatMap((key) => {
    if (!after.has(key)) return next.has(key) ? [`${key}: the same file made the deleted contact again`] : [];
    return changedFields(now.get(key), after.get(key)).flatMap((field) => {
      if (field === policedField && policy === 'source') return [];
      const [back, found] = [valueAt(after, key, field), valueAt(next, key, field)];
      return back === found
        ? []
        : [`${key}: ${field} was taken back to "${back}", and the same file made it "${found}"`];
    });
  });
}

const keysOf = (...all: readonly Looks[]): readonly string[] => [...new Set(all.flatMap((one) => [...one.keys()]))];

const nothing: Look = { picture: new Map(), labels: new Map() };

const valueAt = (all: Looks, key: string, field: string): string => valueIn((all.get(key) ?? nothing).picture, field);

const labelAt = (all: Looks, key: string, field: string): string => valueIn((all.get(key) ?? nothing).labels, field);

const changedFields = (one: Look = nothing, two: Look = nothing): readonly string[] =>
  unequal(one.picture, two.picture);

const hasChanged = (one: Look = nothing, two: Look = nothing): boolean =>
  changedFields(one, two).length > 0 || unequal(one.labels, two.labels).length > 0;

const unequal = (one: Picture, two: Picture): readonly string[] =>
  fieldsOf(one, two).filter((field) => valueIn(one, field) !== valueIn(two, field));
