/**
 * The named steps of the work, for observers, and for tests that end a process at one of them.
 *
 * Each effect that outlives the process is a step. Its two moments are published on a diagnostics channel of Node, which
 * costs nothing without listeners. A message carries names only, no data. The proofs in `test/model` kill processes at
 * each of them.
 */
import { channel } from 'node:diagnostics_channel';

export const stepNames = [
  'enterRun',
  'stageSlice',
  'startApplying',
  'lease',
  'lookUp',
  'get',
  'claim',
  'intend',
  'create',
  'patch',
  'withdraw',
  'settle',
  'defer',
  'release',
  'releaseBatch',
  'writeReport',
  'archive',
  'enterAudits',
  'finishRun',
  'prune',
] as const;
export type StepName = (typeof stepNames)[number];

export interface StepMessage {
  readonly step: StepName;
  /** `after` follows a step that succeeded; one that threw has no such moment. */
  readonly moment: 'before' | 'after';
}

export const stepChannelName = 'patchbay:step';

const steps = channel(stepChannelName);

/** Does the work between the two moments of its step. Throws what the work throws. */
export async function inStep<Result>(step: StepName, work: () => Promise<Result>): Promise<Result> {
  if (!steps.hasSubscribers) return await work();
  steps.publish({ step, moment: 'before' } satisfies StepMessage);
  const result = await work();
  steps.publish({ step, moment: 'after' } satisfies StepMessage);
  return result;
}
