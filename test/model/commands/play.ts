/** Plays one story: each command on the world and on the model, then everything to its end, then the check. */
import { unreachable } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { breachesOf } from './check.ts';
import {
  type Column,
  type Command,
  columnsOf,
  type Feed,
  type FileLine,
  feeds,
  type Story,
  sameCell,
} from './commands.ts';
import { edit } from './edits.ts';
import { csvOf, keyModel, type Model, newModel, rowOf, type WrittenLine, writtenCells } from './model.ts';
import type { WorkerTell } from './worker.ts';
import { type NewLedger, openWorld, type World } from './world.ts';

export interface Played {
  readonly commands: number;
  readonly files: number;
  readonly rows: number;
  /** Each is one sentence. */
  readonly breaches: readonly string[];
}

/** Told of every command and every effect of every worker. */
export type Trace = (what: string, ...details: readonly unknown[]) => void;

export interface PlayOptions {
  readonly trace?: Trace | null;
  /** Everything is worked to its end after each command. */
  readonly isCalm?: boolean;
  readonly newLedger?: NewLedger | undefined;
  /** Called with the world at the end, before it is closed. */
  readonly look?: (world: World, model: Model) => Promise<void>;
  /** What comes then. @returns breaches. */
  readonly act?: (world: World, model: Model) => Promise<readonly string[]>;
}

/** @throws what the product must never throw. */
export async function play(
  story: Story,
  { trace = null, isCalm = false, newLedger, look, act }: PlayOptions = {},
): Promise<Played> {
  const tell: WorkerTell = (worker, name, given, answer) => trace?.(`    ${worker} ${name}`, given, answer);
  const world = await openWorld({ ...story, tell: trace === null ? null : tell, newLedger });
  try {
    const model = newModel();
    for (const command of story.commands) {
      trace?.(JSON.stringify(command));
      await carryOut(world, model, command);
      if (isCalm) await world.finish();
    }
    trace?.('everything to its end');
    await world.faults([]);
    world.chronicle.staleLists(0);
    await world.finish();
    await look?.(world, model);
    const breaches = await breachesOf(world, model, story.policy);
    if (act !== undefined) for (const feed of feeds) await comeBack(world, feed);
    const last = (await act?.(world, model)) ?? [];
    const rows = model.runs.reduce((sum, run) => sum + run.rowCount, 0);
    return { commands: story.commands.length, files: model.runs.length, rows, breaches: [...breaches, ...last] };
  } finally {
    await world.close();
  }
}

async function carryOut(world: World, model: Model, command: Command): Promise<void> {
  switch (command.do) {
    case 'drop':
      return drop(world, model, command);
    case 'repeat':
      return repeat(world, model, command);
    case 'edit':
      return edit(world, model, command);
    case 'crash':
      return world.crash(command.worker, command.effect, command.moment, command.noticed);
    case 'pause':
      return world.pause();
    case 'resume':
      return world.resume();
    case 'advance':
      return world.advance(command.ms);
    case 'fault':
      for (const spec of command.specs) model.faults.add(spec);
      return world.faults(command.specs);
    case 'clear':
      return world.faults([]);
    case 'staleLists':
      model.isRaced ||= command.ms > 0;
      return world.chronicle.staleLists(command.ms);
    case 'flush':
      return world.flush();
    case 'reorder':
      return world.reorder(command.by);
    case 'redeliver':
      if (command.together) await world.work('both');
      else world.redeliver();
      return;
    case 'work':
      for (let job = 0; job < command.jobs; job += 1) await world.work(command.worker);
      return;
    case 'away':
      await world.faults([]);
      await world.finish();
      return world.move(command.feed, true);
    case 'finish':
      await world.faults([]);
      return world.finish();
    default:
      unreachable(command);
  }
}

async function drop(world: World, model: Model, { feed, lines }: Extract<Command, { do: 'drop' }>): Promise<void> {
  await comeBack(world, feed);
  const written = lines.map((line) => ({ key: line.key, cells: writtenCells(model, feed, line) }));
  entered(world, model, await world.drop(feed, csvOf(feed, written)), feed, written);
}

async function comeBack(world: World, feed: Feed): Promise<void> {
  if (!world.isAway(feed)) return;
  await world.faults([]);
  await world.finish();
  world.move(feed, false);
}

/** Notes what the file of a run says. */
export function entered(
  { chronicle }: World,
  model: Model,
  { id }: Pick<RunRecord, 'id'>,
  feed: Feed,
  lines: readonly WrittenLine[],
): void {
  model.runs.push({ id, rowCount: lines.length });
  for (const [index, { key, cells }] of lines.entries()) {
    const row = rowOf({ runId: id, sequence: model.runs.length, feed, line: index + 2 }, cells);
    keyModel(model, key).rows.push(row);
    chronicle.note(key, { kind: 'row', row });
  }
}

async function repeat(
  world: World,
  model: Model,
  { feed, lastName }: Extract<Command, { do: 'repeat' }>,
): Promise<void> {
  const columns: readonly Column[] = columnsOf[feed];
  const lines = [...model.keys].flatMap(([key, { rows }]): readonly FileLine[] => {
    if (!rows.some((row) => row.feed === feed)) return [];
    return [
      { key, cells: columns.map((column) => (column === 'lastName' && lastName !== null ? lastName : sameCell)) },
    ];
  });
  if (lines.length === 0) return;
  await drop(world, model, { do: 'drop', feed, lines });
  model.repeats.add(model.runs.at(-1)?.id ?? '');
}
