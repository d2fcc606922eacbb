/** Many stories from one seed; the first that breaks a rule is shrunk, and says how to play it again. */
import fc from 'fast-check';
import { type Story, story } from './commands.ts';
import { play } from './play.ts';

export interface Explored {
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
  readonly seed: number;
  readonly runs: number;
  /** Of a counterexample that was printed before. */
  readonly path?: string;
  /** Begins no new story after so long, shrinking included. */
  readonly msMax?: number;
}

export async function explore({ seed, runs, path, msMax }: Exploration): Promise<Explored> {
  const startedAtMs = performance.now();
  const sums = { runs: 0, commands: 0, files: 0, rows: 0 };
  const property = fc.asyncProperty(story, async (one: Story) => {
    const { breaches, ...played } = await play(one);
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
  return { seed, ...sums, seconds, failure: details.failed ? tell(details) : null };
}

function tell(details: fc.RunDetails<[Story]>): string {
  const [smallest] = details.counterexample ?? [];
  const commands = smallest?.commands.map((command) => `  ${JSON.stringify(command)}`).join('\n');
  const reason = details.errorInstance;
  return [
    reason instanceof Error && reason.message !== '' ? reason.message : String(reason),
    `after these commands, on a service that ${smallest?.patchMode}s, shrunk ${details.numShrinks} times:`,
    commands,
    `again: node test/model/commands/run.ts --seed ${details.seed} --path ${details.counterexamplePath}`,
    `or:    node test/model/commands/run.ts --story '${JSON.stringify(smallest)}'`,
  ].join('\n');
}
