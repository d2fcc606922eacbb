/**
 * The whole workspace in and out: `node test/bench/workspace-file.ts [CONTACTS]` (1,000,000 without).
 *
 * Peak memory and seconds of a start that invents so many contacts, of a dump and of a load, beside those with 10,000
 * contacts. Memory is bounded where the large peak stays near the small one; the seconds grow with the contacts, so
 * that their ratio is told per contact. Each is a process of its own, started as people start it; its peak is what the
 * kernel counted (`VmHWM`).
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { launchFlags } from './launch-flags.ts';

const root = resolve(import.meta.dirname, '../..');
const cli = join(root, 'src/cli/patchbay.mjs');
const smallCount = 10_000;
const peakOverSmallMbMax = 64;

interface Measured {
  readonly seconds: number;
  readonly peakMb: number;
}

const largeCount = Number(process.argv[2] ?? 1_000_000);
const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
try {
  const small = await measureAll(smallCount);
  const large = await measureAll(largeCount);
  let isBounded = true;
  for (const [index, name] of ['seed', 'dump', 'load'].entries()) {
    const one = small[index];
    const other = large[index];
    if (one === undefined || other === undefined) continue;
    const overMb = other.peakMb - one.peakMb;
    isBounded &&= overMb <= peakOverSmallMbMax;
    const perContact = other.seconds / largeCount / (one.seconds / smallCount);
    console.log(
      `${name}  ${smallCount.toLocaleString('en')}: ${one.peakMb} MB, ${one.seconds.toFixed(1)} s;`,
      `${largeCount.toLocaleString('en')}: ${other.peakMb} MB (${overMb < 0 ? '' : '+'}${overMb} MB), ${other.seconds.toFixed(1)} s;`,
      `time per contact ×${perContact.toFixed(2)}`,
    );
  }
  if (!isBounded) {
    console.error(`memory is not bounded: more than ${peakOverSmallMbMax} MB above the small workspace`);
    process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureAll(count: number): Promise<readonly Measured[]> {
  const at = (name: string) => join(folder, `${count}-${name}`);
  const serve = ['serve', '--port', '0', '--json'];
  const seed = await run([...serve, '--contacts', String(count), '--store', at('seeded.sqlite')]);
  const dump = await run(['serve', '--json', '--store', at('seeded.sqlite'), '--dump', at('dump.json')]);
  const load = await run([...serve, '--load', at('dump.json'), '--store', at('loaded.sqlite')]);
  for (const name of ['seeded.sqlite', 'dump.json', 'loaded.sqlite']) await rm(at(name), { force: true });
  return [seed, dump, load];
}

/** Until the process prints its document; a service is then ended. */
async function run(args: readonly string[]): Promise<Measured> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...launchFlags, cli, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let peakKb = 0;
  const look = async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
  };
  const watch = setInterval(look, 20);
  const ended = new Promise((done) => child.once('exit', done));
  await new Promise((done) => child.stdout.once('data', done));
  const seconds = (performance.now() - startedAt) / 1_000;
  await look();
  clearInterval(watch);
  child.kill('SIGTERM');
  await ended;
  return { seconds, peakMb: Math.round(peakKb / 1024) };
}
