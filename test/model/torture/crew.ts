/** The processes that do the work: one engine and its workers. Whoever dies is started again at once. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PatchbayProcess } from '#test/support/patchbay-process.ts';
import type { Ground } from './ground.ts';

export type Role = 'engine' | 'worker';

export interface Member {
  readonly role: Role;
  /** The one that runs now. */
  readonly process: PatchbayProcess;
}

export interface Crew {
  /** The engine first. */
  readonly members: readonly Member[];
  /** SIGKILL, and another one in its place. Answers the pid of the dead one. */
  killAndRestart(member: Member): Promise<number>;
  /**
   * Starts those again that ended by themselves, and tells them. A worker that was started while its engine or the queue
   * was away may end, and is not told: whoever keeps it running starts it again, as here.
   */
  restartEnded(): readonly string[];
  /** Ends all of them as a person does, and tells those that did not end well. */
  stop(): Promise<readonly string[]>;
}

const argsOf: Readonly<Record<Role, readonly string[]>> = {
  engine: ['start', '--json'],
  worker: ['start', '--worker', '--json'],
};

/** So much of what a process said is told. */
const toldCharacters = 600;

export async function startCrew(ground: Ground, data: string, workerCount: number): Promise<Crew> {
  const start = (role: Role): PatchbayProcess => ground.start(argsOf[role], data);
  const hire = (role: Role): { role: Role; process: PatchbayProcess } => ({ role, process: start(role) });
  const engine = hire('engine');
  // A worker joins an engine that is there; later each of them may be alone for a while.
  await engine.process.firstLine();
  const members = [engine, ...Array.from({ length: workerCount }, () => hire('worker'))];
  const ofMember = (member: Member) => {
    const own = members.find((one) => one === member);
    if (own === undefined) throw new Error('not of this crew');
    return own;
  };
  return {
    members,
    killAndRestart: async (member) => {
      const own = ofMember(member);
      const { pid } = own.process;
      await own.process.kill();
      own.process = start(own.role);
      return pid;
    },
    restartEnded: () =>
      members.flatMap((member) => {
        if (member.process.running) return [];
        const told = toldBy(member.process);
        member.process = start(member.role);
        if (member.role === 'worker' && /"(noEngine|queueUnreachable)"/.test(told)) return [];
        return [`a process (${member.role}) ended by itself: ${told}`];
      }),
    stop: async () => {
      const problems: string[] = [];
      // Workers first, as they are the engine's guests.
      for (const { role, process } of members.toReversed()) {
        if (!process.running) continue;
        process.signal('SIGTERM');
        // One that was started a moment ago and listens for no signal yet is ended by the system.
        const isUp = process.stdout !== '';
        const code = await endOf(process);
        if (code !== 143 && (isUp || code !== null))
          problems.push(`a process (${role}) ended with ${code} on SIGTERM: ${toldBy(process)}`);
      }
      return problems;
    },
  };
}

/** Its exit code, null after a signal. A process that does not end is told as such, with what it is busy with. */
async function endOf(process: PatchbayProcess): Promise<number | null | string> {
  try {
    return (await process.ended()).code;
  } catch {
    const before = await activityOf(process.pid);
    await sleep(1_000);
    return `nothing at all (${before}, a second later ${await activityOf(process.pid)})`;
  }
}

/** The state of a process (R runs, S sleeps, T is stopped) and the processor time it has used, in ticks. Linux alone knows. */
async function activityOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return `state ${fields[0] || 'unknown'}, ${Number(fields[11]) + Number(fields[12])} ticks`;
}

function toldBy({ stdout, stderr }: PatchbayProcess): string {
  return `${stdout}${stderr}`.slice(-toldCharacters).trim();
}
