/**
 * The faults in force, and the dice.
 *
 * Each fault has dice of its own, seeded by the set's seed and its place: its n-th draw is the same in every run,
 * whatever happens on other operations.
 */
import type { OperationName } from '../operations/operation.ts';
import { type Fault, type FaultSpec, faultKinds } from './fault.ts';
import { seededRandom } from './seeded-random.ts';

export interface FaultSet {
  /** The faults that hit one request, in the order in which they were given. */
  readonly draw: (operation: OperationName) => readonly Fault[];
  /** Puts other faults in force and starts the dice anew. */
  readonly replace: (specs: readonly FaultSpec[]) => void;
  readonly specs: () => readonly FaultSpec[];
}

export function createFaultSet(initial: readonly FaultSpec[], seed: number): FaultSet {
  let armed: readonly { readonly spec: FaultSpec; readonly roll: () => number }[] = [];
  const replace = (specs: readonly FaultSpec[]) => {
    armed = specs.map((spec, index) => ({ spec, roll: seededRandom(seed + index) }));
  };
  replace(initial);
  return {
    replace,
    specs: () => armed.map(({ spec }) => spec),
    draw: (operation) =>
      armed
        .filter(({ spec }) => concerns(spec, operation))
        .filter(({ spec, roll }) => roll() < spec.probability)
        .map(({ spec }) => spec.fault),
  };
}

/** `*` means every operation on which the fault can work. */
function concerns(spec: FaultSpec, operation: OperationName): boolean {
  return (
    spec.operation === operation ||
    (spec.operation === '*' && faultKinds[spec.fault.kind].operations.includes(operation))
  );
}
