/** A temporary folder with config files, and a shorter way to load them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConfigFlags, type LoadedConfig, loadConfig } from '#src/config/load.ts';
import { PatchbayError } from '#src/errors.ts';

export interface ConfigBench extends AsyncDisposable {
  readonly folder: string;
  write(name: string, text: string | Uint8Array, mode?: number): Promise<string>;
  load(given?: Partial<Given>): Promise<LoadedConfig>;
  /** The lines of the message; fails the test where the configuration is accepted. */
  problems(given?: Partial<Given>): Promise<string[]>;
}

interface Given {
  readonly env: Record<string, string>;
  readonly flags: ConfigFlags;
  readonly configPath: string;
}

export async function configBench(): Promise<ConfigBench> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-config-'));
  const load = ({ env = {}, flags = {}, configPath }: Partial<Given> = {}) =>
    loadConfig({ env, flags, configPath: configPath ?? null, cwd: folder });
  return {
    folder,
    load,
    async write(name, text, mode = 0o644) {
      const path = join(folder, name);
      await writeFile(path, text, { mode });
      return path;
    },
    async problems(given) {
      const error: unknown = await load(given).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof PatchbayError)) throw new Error('the configuration was accepted', { cause: error });
      if (error.kind !== 'usage' || error.code !== 'configInvalid') throw error;
      return error.message.split('\n');
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What a config file of this text says; a mapping file `own.yaml` lies beside it. */
export async function loaded(text: string, env: Record<string, string> = {}) {
  await using bench = await configBench();
  await bench.write('patchbay.yaml', text);
  await bench.write('own.yaml', 'version: 1\n');
  return { ...(await bench.load({ env })), folder: bench.folder };
}

/** What is wrong with a config file of this text. */
export async function problems(text: string, env: Record<string, string> = {}): Promise<string[]> {
  await using bench = await configBench();
  await bench.write('patchbay.yaml', text);
  return await bench.problems({ env });
}

/** The problems of a feed `crm` with these keys, without the file's name. */
export async function feedProblems(...lines: readonly string[]): Promise<string[]> {
  const text = ['feeds:', '  crm:', ...lines.map((line) => `    ${line}`)].join('\n');
  return (await problems(text)).map((line) => line.replace('patchbay.yaml:', ''));
}
