/** Many stories from one seed; the first that breaks a rule is shrunk, and says how to play it again. */
import fc from 'fast-check';
import { playBothReadings, playInterrupted } from './calm.ts';
import {
  calmStory,
  type InterruptedStory,
  interruptedStory,
  type Story,
  story,
  type TakenBackStory,
  takenBackStory,
} from './commands.ts';
import { type Played, play } from './play.ts';
import { playAct } from './taken-back.ts';
import type { NewLedger } from './world.ts';

/**
 * `storm`: everything fails. `calm`: nothing does, under both readings of PATCH. `interrupted`: with unrelated runs. `takenBack`: a storm,
 * and behind it a plan, its import and the undo of that.
 */
export const kinds = ['storm', 'calm', 'interrupted', 'takenBack'] as const;
export type Kind = (typeof kinds)[number];

const stories: { readonly [Name in Kind]: fc.Arbitrary<Told> } = {
  storm: story,
  calm: calmStory,
  interrupted: interruptedStory,
  takenBack: takenBackStory,
};
export type Told = Story | InterruptedStory | TakenBackStory;

/** What was drawn, or what was printed before. */
export function playTold(kind: Kind, told: Told, newLedger?: NewLedger): Promise<Played> {
  if ('act' in told) {
    const { story: first, act } = told;
    return play(first, { newLedger, act: (world, model) => playAct(world, model, act, first.policy) });
  }
  if ('story' in told) return playInterrupted(told);
  return kind === 'calm' ? playBothReadings(told) : play(told, { newLedger });
}

export interface Explored {
  readonly kind: Kind;
  readonly seed: number;
  readonly runs: number;
  readonly commands: number;
  readonly files: number;
  readonly rows: number;
  readonly seconds: number;
  /** Null where every rule held. */
  readonly failure: string | null;
}

export interface Exploration {
  readonly kind: Kind;
  readonly seed: number;
  readonly runs: number;
  /** Of a counterexample that was printed before. */
  readonly path?: string;
  /** Begins no new story after so long, shrinking included. */
  readonly msMax?: number;
  /** Of storms; a file unless given. */
  readonly newLedger?: NewLedger;
}

export async function explore({ kind, seed, runs, path, msMax, newLedger }: Exploration): Promise<Explored> {
  const startedAtMs = performance.now();
  const sums = { runs: 0, commands: 0, files: 0, rows: 0 };
  const property = fc.asyncProperty(stories[kind], async (told: Told) => {
    const { breaches, ...played } = await playTold(kind, told, newLedger);
    sums.runs += 1;
    for (const name of ['commands', 'files', 'rows'] as const) sums[name] += played[name];
    if (breaches.length > 0) throw new Error(breaches.join('\n'));
  });
  const details = await fc.check(property, {
    seed,
    numRuns: runs,
    ...(path === undefined ? {} : { path }),
    ...(msMax === undefined ? {} : { interruptAfterTimeLimit: msMax, markInterruptAsFailure: false }),
  });
  const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
  return { kind, seed, ...sums, seconds, failure: details.failed ? tell(kind, details) : null };
}

function tell(kind: Kind, details: fc.RunDetails<[Told]>): string {
  const [smallest] = details.counterexample ?? [];
  const told = smallest === undefined ? null : 'story' in smallest ? smallest.story : smallest;
  const commands = told?.commands.map((command) => `  ${JSON.stringify(command)}`).join('\n');
  const reason = details.errorInstance;
  return [
    reason instanceof Error && reason.message !== '' ? reason.message : String(reason),
    `after these commands, on a service that ${told?.patchMode}s, shrunk ${details.numShrinks} times:`,
    commands,
    `again: node test/model/commands/run.ts --kind ${kind} --seed ${details.seed} --path ${details.counterexamplePath}`,
    `or:    node test/model/commands/run.ts --kind ${kind} --story '${JSON.stringify(smallest)}'`,
  ].join('\n');
}
