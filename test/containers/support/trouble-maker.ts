/** Trouble for the containers of a composition, drawn by a seed: killed, paused, cut off from a network, restarted. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Composition } from './composition.ts';

export interface Trouble {
  /** As in `kill worker-2`. */
  readonly name: string;
  /** Resolves when the containers are as they were before. */
  make(): Promise<void>;
}

/** How long a container is paused, cut off or dead: longer than a read takes with all its tries, shorter than a patience. */
const lastsMs = 4_000;
const workers = [1, 2, 3];

/** A random number from 0 up to 1 for each call; the same ones for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of each kind, in an order that the random numbers decide. */
export function troublesOf(on: Composition, random: () => number): readonly Trouble[] {
  const { docker, container, project } = on;
  const anyWorker = (): string => container('worker', workers[Math.floor(random() * workers.length)]);
  const kill = (name: string): Trouble => ({
    name: `kill ${short(name, project)}`,
    make: async () => {
      await docker('kill', name);
      await sleep(lastsMs / 2);
      await docker('start', name);
    },
  });
  const pause = (name: string): Trouble => ({
    name: `pause ${short(name, project)}`,
    make: async () => {
      await docker('pause', name);
      await sleep(lastsMs);
      await docker('unpause', name);
    },
  });
  const cutOff = (name: string, network: string, alias: string): Trouble => ({
    name: `cut ${short(name, project)} off from ${network}`,
    make: async () => {
      await docker('network', 'disconnect', `${project}_${network}`, name);
      await sleep(lastsMs);
      await docker('network', 'connect', '--alias', alias, `${project}_${network}`, name);
    },
  });
  const restart = (service: string): Trouble => ({
    name: `restart ${service}`,
    make: async () => void (await docker('restart', container(service))),
  });
  const troubles = [
    kill(anyWorker()),
    kill(container('engine')),
    kill(container('redis')),
    kill(container('postgres')),
    pause(anyWorker()),
    pause(container('engine')),
    pause(container('redis')),
    pause(container('postgres')),
    cutOff(anyWorker(), 'ledger', 'worker'),
    cutOff(anyWorker(), 'queue', 'worker'),
    cutOff(container('engine'), 'workspace', 'engine'),
    cutOff(container('postgres'), 'ledger', 'postgres'),
    cutOff(container('redis'), 'queue', 'redis'),
    restart('postgres'),
    restart('redis'),
  ];
  return troubles
    .map((trouble) => ({ trouble, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ trouble }) => trouble);
}

const short = (name: string, project: string): string => name.slice(project.length + 1);
