/**
 * Before a person is forgotten: what knows the key at all. Where nothing does, and the ledger knows another form of it, that one is
 * meant: forgetting the key would erase nothing and block the next person with it.
 */
import { PatchbayError } from '#src/errors.ts';
import { hasRowsInFiles } from '#src/runs/erase/erase-files.ts';
import { waitingFilesOf } from '#src/runs/erase/waiting-files.ts';
import { otherFormsOf } from '#src/runs/look/key-forms.ts';
import { type ForgettingHome, filesOfHomeHolding, isOfService, lettersOf, type PersonKnown } from './forget.ts';

/** `ledger`: it knows the key. `forgotten`: it has forgotten it before. `files`: a file or a row names it. `nothing`: nothing was found. */
export type KnownBy = 'ledger' | 'forgotten' | 'files' | 'nothing';

export interface Acquaintance {
  readonly by: KnownBy;
  /** Keys that may be meant, where nothing knows this one: other forms of it, and those of contacts with this id, number or address. */
  readonly others: readonly string[];
}

const othersMax = 10;

/** Looks at every contact and file where the ledger does not know the key. */
export async function acquaintanceOf(home: ForgettingHome, person: PersonKnown): Promise<Acquaintance> {
  const { ledger, feeds, folders, runFolders } = home;
  const { key, texts } = person;
  if (person.isKnown) return { by: 'ledger', others: [] };
  const letters = await lettersOf(ledger, person);
  if (letters.named.length > 0) return { by: 'ledger', others: [] };
  if ((await ledger.forgetting.forgottenPeople())?.has(key) === true) return { by: 'forgotten', others: [] };
  const host = home.host?.id ?? null;
  // What names exactly this key, by the mappings that read it: also a key that is short, or has a prefix which no file has.
  const isMeant =
    letters.holding.length > 0 ||
    (await ledger.forgetting.isInOpenRuns(key)) ||
    (await waitingFilesOf({ ledger, feeds, watched: folders.watched, host }, person)).some(
      ({ names }) => names === 'person',
    ) ||
    (await hasRowsInFiles({ ledger, folders: runFolders, host }, person));
  if (isMeant) return { by: 'files', others: [] };
  const alike = [...(await otherFormsOf(ledger, key)), ...(await ledger.contacts.keysSeenWith(key))];
  const others = [...new Set(alike)].slice(0, othersMax);
  if (others.length > 0) return { by: 'nothing', others };
  // As a part of any text, such as another form of the key in its files: it counts only where nothing else is meant.
  const isNamed =
    (await ledger.forgetting.search(texts)).length > 0 ||
    (await filesOfHomeHolding(home, texts, isOfServiceOrLedger)).length > 0;
  return { by: isNamed ? 'files' : 'nothing', others: [] };
}

/** Rows of the ledger are asked for by themselves: the bytes of its file may hold those that were deleted. */
function isOfServiceOrLedger(name: string): boolean {
  return isOfService(name) || name.startsWith('ledger.sqlite');
}

/**
 * For a person who has not said yes to a key of which nothing was found, where other keys may be meant.
 * @param others at least one.
 */
export function keyUnknown({ key }: Pick<PersonKnown, 'key'>, others: readonly string[]): PatchbayError {
  const message = `nothing was found of the key ${key}, and others are known that may be meant; nothing was erased, and nothing is kept`;
  const known = `Known ${others.length === 1 ? 'is' : 'are'} ${others.join(', ')}: give the key that is meant.`;
  const hint = `${known} To have rows with exactly this key skipped in later files all the same, give --yes.`;
  return new PatchbayError('usage', 'keyUnknown', message, { hint });
}
