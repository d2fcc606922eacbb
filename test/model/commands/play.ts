/** Plays one story: each command on the world and on the model, then everything to its end, then the check. */
import { unreachable } from '#src/errors.ts';
import type { UpdateItem } from '#src/wire/contact.ts';
import { breachesOf } from './check.ts';
import type { Command, Story } from './commands.ts';
import { csvOf, type Edit, keyModel, type Model, newModel, phoneByHand, rowOf } from './model.ts';
import type { WorkerTell } from './worker.ts';
import { openWorld, type World } from './world.ts';

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
}

/** @throws what the product must never throw. */
export async function play(story: Story, { trace = null }: PlayOptions = {}): Promise<Played> {
  const tell: WorkerTell = (worker, name, given, answer) => trace?.(`    ${worker} ${name}`, given, answer);
  const world = await openWorld({ patchMode: story.patchMode, tell: trace === null ? null : tell });
  try {
    const model = newModel();
    for (const command of story.commands) {
      trace?.(JSON.stringify(command));
      await carryOut(world, model, command);
    }
    trace?.('everything to its end');
    await world.faults([]);
    await world.finish();
    const rows = model.runs.reduce((sum, run) => sum + run.rowCount, 0);
    const breaches = await breachesOf(world, model);
    return { commands: story.commands.length, files: model.runs.length, rows, breaches };
  } finally {
    await world.close();
  }
}

async function carryOut(world: World, model: Model, command: Command): Promise<void> {
  switch (command.do) {
    case 'drop': {
      const { feed, lines } = command;
      const run = await world.drop(feed, csvOf(feed, lines));
      model.runs.push({ id: run.id, rowCount: lines.length });
      for (const [index, line] of lines.entries())
        keyModel(model, line.key).history.push(rowOf(run.id, feed, line, index));
      return;
    }
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
    default:
      unreachable(command);
  }
}

/** In the app one edits what is there; a key without a contact is passed over. */
async function edit(world: World, model: Model, command: Extract<Command, { do: 'edit' }>): Promise<void> {
  const contact = (await world.contacts()).find((one) => one.externalId === command.key);
  if (contact === undefined) return;
  const known = keyModel(model, command.key);
  if (command.what === 'delete') {
    const isBound = (await world.ledger.contacts.get([command.key])).get(command.key)?.contactId === contact.id;
    await world.byHand('DELETE', contact.id);
    world.creates.deleted(command.key);
    known.deleted = isBound && known.deleted === 'no' ? 'known' : 'unknown';
    return;
  }
  const { emails: _, phoneNumbers, ...scalars } = contact.defaultFields;
  const items = phoneNumbers.map(({ id, name, value }): UpdateItem & { value: string } => ({
    ...(id === null ? {} : { id }),
    name: name ?? '',
    value: value ?? '',
  }));
  const count = [...model.keys.values()].reduce((sum, one) => sum + one.history.length, 0);
  const before = await atRest(world, model);
  // The app sends the whole contact, so that a service of either kind keeps the rest.
  const save = async (kind: Edit['kind'], value: string, fields: Record<string, unknown>): Promise<void> => {
    const defaultFields = { ...scalars, emails: [], phoneNumbers: items, ...fields };
    await world.byHand('PATCH', contact.id, { defaultFields, customFields: [] });
    known.history.push({ kind, value, before });
  };
  switch (command.what) {
    case 'role':
      return save('role', `by hand ${count}`, { role: `by hand ${count}` });
    case 'addPhone': {
      const value = phoneByHand(count);
      if (items.some((item) => item.value === value)) return;
      return save('addPhone', value, { phoneNumbers: [...items, { name: 'by hand', value }] });
    }
    case 'removePhone': {
      const item = items[command.pick % Math.max(1, items.length)];
      if (item === undefined) return;
      const left = items.map((one) => (one === item ? { ...one, value: null } : one));
      return save('removePhone', item.value, { phoneNumbers: left });
    }
    default:
      unreachable(command.what);
  }
}

async function atRest(world: World, model: Model): Promise<ReadonlySet<string>> {
  const resting = new Set<string>();
  for (const { id } of model.runs) if (await world.isAtRest(id)) resting.add(id);
  return resting;
}
