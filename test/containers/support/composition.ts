/** The composition of `docker-compose.yml`, brought up on the machine's container engine under a name of its own, and gone after the test. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { patienceMs } from '#test/support/until.ts';

const root = new URL('../../..', import.meta.url).pathname;
const outputBytesMax = 64 * 1024 * 1024;

export interface CompositionOptions {
  /** Of the key, as the engine and the workers are told. */
  readonly rate: number;
  /** Beyond it the service answers 429. */
  readonly serviceRate: number;
}

export interface Composition {
  readonly project: string;
  /** Of this machine, for files that commands write. */
  readonly folder: string;
  /** `docker compose …` on this composition. @returns standard output. @throws Error with what it said. */
  compose(...args: readonly string[]): Promise<string>;
  docker(...args: readonly string[]): Promise<string>;
  /** The lines through a shell, as a person types them, in the folder; `docker compose` is this composition. */
  shell(lines: string): Promise<string>;
  /** `patchbay …` in the engine's container; the JSON that it prints. */
  patchbay(...args: readonly string[]): Promise<Record<string, unknown>>;
  /** The name of a container. */
  container(service: string, number?: number): string;
  /** The newest run as the page shows it; null while the page does not answer. */
  lastRun(): Promise<ShownRun | null>;
  /** The keys of the service's contacts, sorted; a key that two contacts have stands there twice. */
  keys(): Promise<readonly string[]>;
  /** Drops a file into the import folder, or into that of a feed: `FEED/NAME`. */
  drop(name: string, content: string): Promise<void>;
  /** What the containers wrote, for a test that fails. */
  logs(): Promise<string>;
  /** Removes containers, networks and volumes. */
  close(): Promise<void>;
}

export interface ShownRun {
  readonly run: string;
  readonly file: string;
  readonly state: string;
  readonly rows: number;
  readonly created: number;
  readonly unchanged: number;
  readonly pending: number;
  readonly dead: number;
  readonly requests: { readonly rateLimited: number; readonly post: number };
}

const token = 'token-of-the-tests';

/** Nothing is started yet. */
export function composition({ rate, serviceRate }: CompositionOptions): Composition {
  const project = `patchbay-test-${process.pid}`;
  const folder = mkdtempSync(join(tmpdir(), 'pb-compose-'));
  const env = {
    ...process.env,
    ...{ PATCHBAY_API_KEY: 'key-of-the-tests', PATCHBAY_TOKEN: token, LEDGER_PASSWORD: 'password-of-the-tests' },
    ...{ PATCHBAY_RATE: `${rate}`, SERVICE_RATE: `${serviceRate}`, COMPOSE_PROJECT_NAME: project },
    COMPOSE_FILE: ['docker-compose.yml', 'test/containers/support/under-test.yml']
      .map((name) => join(root, name))
      .join(':'),
    // What is not set here must not come from the machine.
    PATCHBAY_BASE_URL: '',
  };
  const run = async (program: string, args: readonly string[], cwd = root): Promise<string> => {
    const { stdout } = await promisify(execFile)(program, args, { cwd, env, maxBuffer: outputBytesMax });
    return stdout;
  };
  const docker = (...args: readonly string[]): Promise<string> => run('docker', args);
  const compose = (...args: readonly string[]): Promise<string> => docker('compose', ...args);
  const container = (service: string, number = 1): string => `${project}-${service}-${number}`;
  const page = async (): Promise<string> => (await compose('port', 'engine', '8080')).trim();
  let address: string | null = null;
  return {
    project,
    folder,
    compose,
    docker,
    container,
    shell: (lines) => run('sh', ['-euc', lines], folder),
    patchbay: async (...args) => {
      const said = await docker('exec', container('engine'), 'node', 'src/cli/patchbay.mjs', ...args, '--json');
      return JSON.parse(said.trim().split('\n').at(-1) ?? '');
    },
    lastRun: async () => {
      try {
        address ??= await page();
        const reply = await fetch(`http://${address}/`, {
          headers: { accept: 'application/json', authorization: `Bearer ${token}` },
          signal: AbortSignal.timeout(patienceMs),
        });
        const { runs } = (await reply.json()) as { readonly runs: readonly ShownRun[] };
        return runs[0] ?? null;
      } catch {
        // The engine is down, paused or cut off: a container that is started again has another port.
        address = null;
        return null;
      }
    },
    keys: async () => {
      const dump = '/tmp/workspace.json';
      const serve = ['node', 'src/cli/patchbay.mjs', 'serve', '--store', '/data/service.sqlite', '--dump'];
      await docker('exec', container('service'), 'sh', '-c', `rm -f ${dump}; ${serve.join(' ')} ${dump}`);
      const { contacts } = JSON.parse(await docker('exec', container('service'), 'cat', dump)) as {
        readonly contacts: readonly { readonly externalId: string | null }[];
      };
      return contacts.map(({ externalId }) => externalId ?? '').sort();
    },
    drop: async (name, content) => {
      const file = join(folder, basename(name));
      writeFileSync(file, content, { mode: 0o644 });
      await compose('cp', file, `engine:/data/import/${name}`);
    },
    logs: () => compose('logs', '--no-color', '--tail', '40'),
    close: async () => {
      await compose('down', '--volumes', '--timeout', '5', '--remove-orphans');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
