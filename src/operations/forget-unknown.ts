/**
 * Before a person is forgotten: what knows the key at all. A key that nothing knows is mostly another one, mistyped or without its prefix, and
 * forgetting it would erase nothing and block the next person with that key.
 */
import { PatchbayError } from '#src/errors.ts';
import { waitingFilesOf } from '#src/runs/erase/waiting-files.ts';
import { otherFormsOf } from '#src/runs/look/key-forms.ts';
import { keysHolding } from './contact.ts';
import { type ForgettingHome, filesOfHomeHolding, isOfService, lettersOf, type PersonKnown } from './forget.ts';

/** `ledger`: it knows the key. `forgotten`: it has forgotten it before. `files`: something names it, and nothing else is meant. */
export type KnownBy = 'ledger' | 'forgotten' | 'files' | 'nothing';

export interface Acquaintance {
  readonly by: KnownBy;
  /** Keys that may be meant, where nothing knows this one: other forms of it, and those of contacts with this id, number or address. */
  readonly others: readonly string[];
}

const othersMax = 10;

/** Looks at every contact and file where the ledger does not know the key. */
export async function acquaintanceOf(home: ForgettingHome, person: PersonKnown): Promise<Acquaintance> {
  const { ledger, feeds, folders, host } = home;
  const { key, texts } = person;
  if (person.isKnown) return { by: 'ledger', others: [] };
  const letters = await lettersOf(ledger, person);
  if (letters.named.length > 0) return { by: 'ledger', others: [] };
  if ((await ledger.forgetting.forgottenPeople())?.has(key) === true) return { by: 'forgotten', others: [] };
  const alike = [...(await otherFormsOf(ledger, key)), ...(await keysHolding({ ledger }, key))];
  const others = [...new Set(alike)].slice(0, othersMax);
  if (others.length > 0) return { by: 'nothing', others };
  const isNamed =
    letters.holding.length > 0 ||
    (await waitingFilesOf({ ledger, feeds, watched: folders.watched, host: host?.id ?? null }, person)).some(
      ({ names }) => names === 'person',
    ) ||
    (await ledger.forgetting.search(texts)).length > 0 ||
    (await filesOfHomeHolding(home, texts, isOfServiceOrLedger)).length > 0;
  return { by: isNamed ? 'files' : 'nothing', others: [] };
}

/** Rows of the ledger are asked for by themselves: the bytes of its file may hold those that were deleted. */
function isOfServiceOrLedger(name: string): boolean {
  return isOfService(name) || name.startsWith('ledger.sqlite');
}

/** For a person who has not said yes to a key that nothing knows. */
export function keyUnknown({ key }: Pick<PersonKnown, 'key'>, others: readonly string[]): PatchbayError {
  const message = `neither the ledger nor any file knows the key ${key}; nothing was erased, and nothing is kept`;
  const advance = `To have rows with exactly this key skipped in later files all the same, give --yes.`;
  const [only] = others;
  const hint =
    only === undefined
      ? `Name the externalId with the prefix of its mapping: patchbay contact EMAIL shows it. ${advance}`
      : `Known ${others.length === 1 ? 'is' : 'are'} ${others.join(', ')}: give the key that is meant. ${advance}`;
  return new PatchbayError('usage', 'keyUnknown', message, { hint });
}
