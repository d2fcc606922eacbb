/** Lets later files bring a person again who was forgotten (`docs/rules.md`, "Forgetting a person"). What was erased stays erased. */
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import { actOf } from './acts.ts';
import { hostsNotSearched, type PersonKnown, requireUnnamed } from './forget.ts';

type AllowingHome = Pick<Home, 'ledger' | 'clock' | 'actor' | 'host'>;

/**
 * To be asked before a person decides. @throws PatchbayError `usage`: `notForgotten`; `forgettingUnfinished`: on another host files of before may hold the
 * person, and the command that erases them there would erase what later files bring.
 */
export async function requireForgotten({ ledger, host }: AllowingHome, { key }: PersonKnown): Promise<void> {
  if ((await ledger.forgetting.forgottenPeople())?.has(key) !== true) throw notForgotten(key);
  const [other] = await hostsNotSearched(ledger, key, host?.id ?? null);
  if (other === undefined) return;
  const message = `the key ${key} is not forgotten yet on the host ${other.name}: its files may hold the person`;
  throw new PatchbayError('usage', 'forgettingUnfinished', message, {
    hint: `Give the command patchbay forget there first; if the host is gone for good: patchbay hosts forget ${other.host}`,
  });
}

/** @throws PatchbayError `usage`: `reasonNamesPerson`; what `requireForgotten` throws. */
export async function allowAgain(home: AllowingHome, person: PersonKnown, reason: string): Promise<void> {
  requireUnnamed(person, reason);
  await requireForgotten(home, person);
  const act = await actOf(home, 'forgetAllow', reason);
  if (!(await home.ledger.forgetting.allowAgain(person.key, act))) throw notForgotten(person.key);
}

function notForgotten(key: string): PatchbayError {
  return new PatchbayError('usage', 'notForgotten', `the key ${key} is not among those that were forgotten`, {
    hint: 'Its rows are read as any others. Give the key exactly as it was given to be forgotten, with its prefix: only a hash of it is known.',
  });
}
