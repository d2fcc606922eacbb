/** Lets later files bring a person again who was forgotten (`docs/rules.md`, "Forgetting a person"). What was erased stays erased. */
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import { actOf } from './acts.ts';
import { type PersonKnown, requireUnnamed } from './forget.ts';

/** @throws PatchbayError `usage`: `reasonNamesPerson`; `notForgotten`. */
export async function allowAgain(
  home: Pick<Home, 'ledger' | 'clock' | 'actor'>,
  person: PersonKnown,
  reason: string,
): Promise<void> {
  requireUnnamed(person, reason);
  const act = await actOf(home, 'forgetAllow', reason);
  if (await home.ledger.forgetting.allowAgain(person.key, act)) return;
  throw new PatchbayError('usage', 'notForgotten', `the key ${person.key} is not among those that were forgotten`, {
    hint: 'Its rows are read as any others. Give the key exactly as it was given to be forgotten, with its prefix: only a hash of it is known.',
  });
}
