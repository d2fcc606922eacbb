/** Whether a container engine answers on this machine: asked once for all files of a run, in milliseconds where there is none. */
import { execFileSync } from 'node:child_process';
import { getContainerRuntimeClient } from 'testcontainers';
import { describe } from 'vitest';

const runtime = await getContainerRuntimeClient().then(
  () => true,
  () => false,
);

/** Images are pulled or made, and servers start. */
export const startTimeoutMs = 600_000;

/** Skipped by name where no engine answers. */
export function describeOnEngine(name: string, tests: () => void): void {
  describe.skipIf(!runtime)(`${name}${runtime ? '' : ' (skipped: no container engine answers)'}`, tests);
}

/** The same for `docker compose`, which the composition is brought up with. */
export function describeOnCompose(name: string, tests: () => void): void {
  const reason = runtime && hasCompose() ? '' : ' (skipped: no Docker engine with Compose answers)';
  describe.skipIf(reason !== '')(`${name}${reason}`, tests);
}

function hasCompose(): boolean {
  try {
    execFileSync('docker', ['compose', 'version'], { stdio: 'ignore', timeout: 10_000 });
    execFileSync('docker', ['info'], { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}
