/** `patchbay init`. */
import { resolve } from 'node:path';
import { configVariable } from '#src/config/layers.ts';
import { initialise } from '#src/operations/init.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { type GlobalOptions, loadCliConfig } from '../open-home.ts';
import { createOutput, printable } from '../output.ts';

interface InitOptions extends GlobalOptions {
  readonly defaultCountry?: string;
}

const fileName = 'patchbay.yaml';

export async function init(options: InitOptions): Promise<number> {
  const output = createOutput(options);
  const path = resolve(options.config ?? (process.env[configVariable]?.trim() || fileName));
  const { configFile, importFolder } = await initialise({
    path,
    defaultCountry: options.defaultCountry ?? null,
    dataFolder: options.data === undefined ? null : resolve(options.data),
    load: async () => (await loadCliConfig({ ...options, config: path })).config,
  });
  if (output.json) {
    output.document({ configFile, importFolder, exitCode: exitCodes.done });
    return exitCodes.done;
  }
  output.line(`wrote ${printable(configFile)}`);
  output.line(`drop files into ${printable(importFolder)}`);
  output.line(output.paste('next: patchbay start'));
  output.line(
    output.paste('for your service set service.baseUrl in that file, and PATCHBAY_API_KEY; then: patchbay doctor'),
  );
  return exitCodes.done;
}
