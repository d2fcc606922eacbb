/**
 * Properties of calm stories, in which each file is worked to its end before the next thing happens, so that a story has
 * one end: the same for a service that merges as for one that replaces, and the same whatever unrelated runs lie between.
 */
import type { Command, InterruptedStory, Story } from './commands.ts';
import { readFates } from './fates.ts';
import { fieldsOf, type Picture, pictureOf, valueIn } from './picture.ts';
import { type Played, play } from './play.ts';

/** What a story comes to: the contacts, and what was held of each file. */
interface End {
  readonly played: Played;
  readonly contacts: ReadonlyMap<string, Picture>;
  /** By key, and by the place of the file's command in the story. */
  readonly held: ReadonlyMap<string, Picture>;
}

async function endOf(story: Story): Promise<End> {
  const contacts = new Map<string, Picture>();
  const held = new Map<string, Picture>();
  const played = await play(story, {
    isCalm: true,
    look: async (world, model) => {
      for (const contact of await world.contacts()) contacts.set(contact.externalId ?? '', pictureOf(contact));
      const ids = model.runs.map((run) => run.id);
      const fates = await readFates(world.folders.reports, ids);
      for (const [key, { rows }] of model.keys) {
        for (const row of rows) {
          const isRepeated = model.repeats.has(row.runId);
          const number = ids.slice(0, row.sequence).filter((id) => !model.repeats.has(id)).length;
          if (isRepeated) continue;
          held.set(`${key}, file ${number}`, new Map([...fates.of(row).held].map((field) => [field, 'held'])));
        }
      }
    },
  });
  return { played, contacts, held };
}

function differences(
  what: string,
  one: ReadonlyMap<string, Picture>,
  two: ReadonlyMap<string, Picture>,
  except: readonly string[],
): readonly string[] {
  return [...new Set([...one.keys(), ...two.keys()])].flatMap((key) => {
    const [first, second] = [one.get(key) ?? new Map(), two.get(key) ?? new Map()];
    const fields = fieldsOf(first, second).filter((field) => !except.includes(field));
    return fields.flatMap((field) => {
      const [left, right] = [valueIn(first, field), valueIn(second, field)];
      return left === right ? [] : [`${key}: ${field} is "${left}", and ${what} "${right}"`];
    });
  });
}

/** The rules hold, and a PATCH comes to the same under both readings of the interface. */
export async function playBothReadings(story: Story): Promise<Played> {
  const merged = await endOf({ ...story, patchMode: 'merge' });
  if (merged.played.breaches.length > 0) return merged.played;
  const replaced = await endOf({ ...story, patchMode: 'replace' });
  const differ = differences('where the service replaces', merged.contacts, replaced.contacts, []);
  return { ...replaced.played, breaches: [...replaced.played.breaches, ...differ] };
}

/** Unrelated runs leave every verdict as it is: value and hold. */
export async function playInterrupted({ story, unrelated }: InterruptedStory): Promise<Played> {
  const plain = await endOf(story);
  const commands = story.commands.flatMap((command, index): readonly Command[] => [
    command,
    ...unrelated
      .filter(({ after }) => after === index)
      .map(({ feed, lastName }): Command => ({ do: 'repeat', feed, lastName })),
  ]);
  const interrupted = await endOf({ ...story, commands });
  const differ = [
    ...differences('with unrelated runs', plain.contacts, interrupted.contacts, ['lastName']),
    ...differences('with unrelated runs', plain.held, interrupted.held, ['lastName']),
  ];
  return { ...interrupted.played, breaches: [...interrupted.played.breaches, ...plain.played.breaches, ...differ] };
}
