/** Which steps are torn apart, and under which faults each of them comes to pass. */
import { type StepMessage, type StepName, stepNames } from '#src/steps.ts';
import type { Chance } from './chance.ts';
import type { StepKill } from './preload.ts';

/**
 * *plain*: creates and updates, no fault. *rated*: half of the creates are answered 429, so that intents are taken back
 * and rows put off. *unlisted*: lists show no contact of the last hour, so that bound ones are read by their id.
 */
export type SceneName = 'plain' | 'rated' | 'unlisted';

export const sceneFaults: Readonly<Record<SceneName, readonly string[]>> = {
  plain: [],
  rated: ['create:status=429;retryAfter=1:50%'],
  unlisted: ['list:listLag=3600s'],
};

const scenes: Readonly<Record<StepName, SceneName>> = {
  enterRun: 'plain',
  stageSlice: 'plain',
  startApplying: 'plain',
  lease: 'plain',
  lookUp: 'plain',
  get: 'unlisted',
  claim: 'plain',
  intend: 'plain',
  create: 'plain',
  patch: 'plain',
  withdraw: 'rated',
  settle: 'plain',
  defer: 'rated',
  release: 'plain',
  releaseBatch: 'plain',
  writeReport: 'plain',
  archive: 'plain',
  enterAudits: 'plain',
  finishRun: 'plain',
  prune: 'plain',
};

export function sceneOf(step: StepName): SceneName {
  return scenes[step];
}

const moments: readonly StepMessage['moment'][] = ['before', 'after'];

/** How often each moment comes in each scene, by `STEP:MOMENT`. */
export type SceneCounts = Readonly<Record<SceneName, Readonly<Record<string, number>>>>;

/**
 * Each moment of each step at its first occurrence, and where it comes more often at a later one as well.
 * @throws Error for a step that does not come in its scene: it would not be torn apart.
 */
export function allKills(counts: SceneCounts, chance: Chance): readonly StepKill[] {
  const kills: StepKill[] = [];
  for (const step of stepNames) {
    for (const moment of moments) {
      const count = counts[sceneOf(step)][`${step}:${moment}`] ?? 0;
      if (count === 0) throw new Error(`${step}:${moment} does not come in the scene ${sceneOf(step)}`);
      kills.push({ step, moment, occurrence: 1 });
      if (count > 1) kills.push({ step, moment, occurrence: chance.between(2, count) });
    }
  }
  return kills;
}

/** A few first occurrences, for every test run others. */
export function someKills(count: number, chance: Chance): readonly StepKill[] {
  const all = stepNames.flatMap((step) => moments.map((moment) => ({ step, moment, occurrence: 1 })));
  return chance.shuffled(all).slice(0, count);
}
