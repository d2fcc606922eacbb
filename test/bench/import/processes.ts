/**
 * The processes of a benchmark: an import as people start it, the workspace service, and the bare loops. Each is one of its
 * own, so that none profits from what another has warmed up.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { launchFlags } from '../launch-flags.ts';
import { serveFlags } from '../service/server-process.ts';
import { exportCountry } from './export-file.ts';

/** The code that is measured: this one, or that of another folder. */
export interface Checkout {
  readonly name: string;
  readonly root: string;
}

export const thisCheckout: Checkout = { name: 'this', root: resolve(import.meta.dirname, '../../..') };

export const benchFeed = 'crm';
const apiKey = 'bench-key';

export interface Ended {
  /** From the start of the process to its end. */
  readonly seconds: number;
  /** Peak of the whole process, as the kernel counted it (`VmHWM`). */
  readonly peakMb: number;
  readonly stdout: string;
  readonly code: number | null;
}

/** What `import --json` tells, as far as it is used here (`docs/contract.md`). */
export interface ImportDocument {
  readonly run: string;
  readonly state: string;
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly dead: number;
  readonly pending: number;
  readonly requests: { readonly get: number; readonly post: number; readonly patch: number };
  /** The run's own time: without the process's start, and without the copy of the file. */
  readonly seconds: number;
}

export interface ImportEnd extends Omit<Ended, 'stdout'> {
  readonly document: ImportDocument;
}

export interface ImportOrder {
  readonly file: string;
  readonly data: string;
  readonly origin: string;
  /** What it is to end as, and further settings. */
  readonly state: 'done' | 'stopped';
  readonly env?: Readonly<Record<string, string>>;
}

const looksAtMemoryMs = 25;

/** @param endsAfterMs the process is asked to end then, if it has not. */
export async function runNode(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
  endsAfterMs = 0,
): Promise<Ended> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...args], {
    ...{ cwd, env, stdio: ['ignore', 'pipe', 'inherit'], timeout: endsAfterMs },
  });
  let peakKb = 0;
  const look = async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
  };
  const watch = setInterval(look, looksAtMemoryMs);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - startedAt) / 1_000;
  clearInterval(watch);
  return { seconds, peakMb: Math.round(peakKb / 1024), stdout, code };
}

/** `patchbay import` of a checkout. Throws where it ends otherwise than ordered. */
export async function runImport(checkout: Checkout, order: ImportOrder): Promise<ImportEnd> {
  const { root } = checkout;
  const args = ['import', order.file, '--feed', benchFeed, '--json', '--quiet', '--same-workspace', '--wait', '2h'];
  const env = { ...commandEnv(order.data, order.origin), ...order.env };
  const { stdout, ...ended } = await runNode([...launchFlags, join(root, 'src/cli/patchbay.mjs'), ...args], env, root);
  const document = parseDocument(stdout);
  if (document?.state !== order.state)
    throw new Error(`the import ended with ${ended.code}: ${stdout.slice(0, 2_000)}`);
  return { ...ended, document };
}

function parseDocument(text: string): ImportDocument | null {
  // The contract's document: written by the command that was started here.
  return text.startsWith('{') ? (JSON.parse(text) as ImportDocument) : null;
}

/** The environment of every command on a data folder; nothing of the caller's settings. */
export function commandEnv(data: string, origin: string): NodeJS.ProcessEnv {
  return {
    ...{ PATH: process.env.PATH, HOME: process.env.HOME, TZ: 'UTC' },
    PATCHBAY_BASE_URL: origin,
    PATCHBAY_API_KEY: apiKey,
    PATCHBAY_RATE: '10000',
    PATCHBAY_DATA: data,
    PATCHBAY_MAPPING_DEFAULT_COUNTRY: exportCountry,
  };
}

export const baselines = ['parse', 'normalise', 'create'] as const;
export type Baseline = (typeof baselines)[number];

/** A bare loop. @returns its own seconds, without the start of its process. */
export async function runBaseline(kind: Baseline, args: readonly string[]): Promise<number> {
  const program = join(import.meta.dirname, 'baseline.ts');
  const { stdout, code } = await runNode([program, kind, ...args], process.env, thisCheckout.root);
  if (code !== 0) throw new Error(`the bare loop ${kind} ended with ${code}: ${stdout}`);
  return (JSON.parse(stdout) as { seconds: number }).seconds;
}

/** The workspace service of this checkout for whatever is measured, on a store of its own. */
export async function withService<Result>(
  store: string,
  work: (origin: string, key: string) => Promise<Result>,
): Promise<Result> {
  const args = ['--port', '0', '--store', store, '--key', apiKey, '--contacts', '0', '--numbers', '1', '--json'];
  const program = join(thisCheckout.root, 'src/cli/patchbay.mjs');
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TZ: 'UTC' };
  const child = spawn(process.execPath, [...serveFlags, program, 'serve', '--patch', 'merge', ...args], {
    env,
    cwd: thisCheckout.root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    return await work(await originOf(child), apiKey);
  } finally {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }
}

async function originOf(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.setEncoding('utf8');
  for await (const piece of child.stdout ?? []) {
    text += piece;
    if (text.includes('\n')) break;
  }
  return (JSON.parse(text) as { origin: string }).origin;
}
