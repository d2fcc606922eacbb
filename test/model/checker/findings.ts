/**
 * What the checker found in the core and what is not mended: each with the search that shows it. An entry leaves this
 * list together with the mistake; the scenarios let them pass meanwhile (`scenario.ts`).
 */
import type { DepartureKind } from './departure.ts';
import type { Scenario } from './scenario.ts';
import { scenarioOf } from './scenarios.ts';
import type { ViolationKind } from './violation.ts';

export interface Finding {
  readonly about: string;
  readonly scenario: Scenario;
  readonly departuresMax: number;
  readonly only: readonly DepartureKind[];
  readonly kind: ViolationKind;
}

export const findings: readonly Finding[] = [];
