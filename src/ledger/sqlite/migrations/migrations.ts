/** Takes the schema from one version to the next. None is ever changed once it was released. */
import { deskSteps } from './desk.ts';
import { firstDesign } from './first-design.ts';
import { keysSteps } from './keys.ts';
import { lettersSteps, problemsSteps } from './letters.ts';
import { deletedSteps, hostSteps, keysOfRunsSteps, movedSteps, runsSteps } from './runs.ts';
import type { MigrationStep } from './step.ts';

/** Each entry takes the schema one version further. */
export const migrations: readonly (readonly MigrationStep[])[] = [
  ...firstDesign.map((sql) => [sql]),
  [...runsSteps, ...keysSteps, ...keysOfRunsSteps, ...lettersSteps, ...deskSteps],
  hostSteps,
  movedSteps,
  deletedSteps,
  problemsSteps,
];
