/** The environment under which a command ends itself at a step, or counts its steps (`kill-at.mjs`). */
import type { StepMessage, StepName } from '#src/steps.ts';

const preload = new URL('./kill-at.mjs', import.meta.url).href;

export interface StepKill {
  readonly step: StepName;
  readonly moment: StepMessage['moment'];
  /** From 1. */
  readonly occurrence: number;
}

export function nameOf({ step, moment, occurrence }: StepKill): string {
  return `${step}:${moment}:${occurrence}`;
}

/** `markFile` is written just before the end. */
export function killingEnv(kill: StepKill, markFile: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=${preload}`, TORTURE_KILL_AT: nameOf(kill), TORTURE_KILL_MARK: markFile };
}

/** `countsFile` gets `{"STEP:MOMENT": COUNT}` when the process ends by itself. */
export function countingEnv(countsFile: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=${preload}`, TORTURE_STEP_COUNTS: countsFile };
}
