/** The five scalars of one contact: what each will hold, and why. Policy: `decide-field.ts`. */

import type { Base } from '#src/contacts/base.ts';
import { type Change, fieldChange, type HeldField } from '#src/contacts/change.ts';
import { decideField } from '#src/contacts/decide-field.ts';
import { type DesiredScalars, type ScalarName, scalarNames } from '#src/contacts/desired.ts';
import { sameText } from '#src/contacts/same-value.ts';
import { scalarOf } from '#src/contacts/scalar-of.ts';
import type { Contact } from '#src/wire/contact.ts';

export interface MergedScalars {
  /** What each scalar will hold, written or kept. */
  readonly values: Readonly<Record<ScalarName, string | null>>;
  readonly changes: readonly Change[];
  readonly held: readonly HeldField[];
}

export function mergeScalars(base: Base, theirs: Contact, ours: DesiredScalars): MergedScalars {
  const values: Record<ScalarName, string | null> = {
    firstName: null,
    lastName: null,
    company: null,
    role: null,
    sourceUrl: null,
  };
  const changes: Change[] = [];
  const held: HeldField[] = [];
  for (const name of scalarNames) {
    const there = scalarOf(theirs, name);
    const wanted = ours[name];
    const said = base.said?.scalars[name];
    const decision = decideField({
      ours: wanted,
      said,
      seen: base.seen === null ? undefined : scalarOf(base.seen, name),
      theirs: there,
      wasHeld: base.said?.held.includes(name) ?? false,
      same: sameText,
    });
    values[name] = there;
    if (decision === 'keep' || wanted === undefined) continue;
    if (decision === 'hold') {
      held.push({ field: name, said: said ?? null, theirs: there, ours: wanted });
    } else {
      values[name] = wanted;
      changes.push(fieldChange(name, there, wanted));
    }
  }
  return { values, changes, held };
}
