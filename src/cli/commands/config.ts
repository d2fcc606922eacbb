/** `patchbay config check|print|schema`. */
import type { GlobalOptions } from '#src/cli/open-home.ts';
import { configJsonSchema, printConfig } from '#src/config/document.ts';
import { createFeeds } from '#src/feeds/feeds.ts';
import { loadCliConfig } from '../open-home.ts';
import { createOutput } from '../output.ts';

/** Loading it throws what is wrong, all problems at once; then the mappings and labels of its feeds are checked, as at a start. */
export async function checkConfig(options: GlobalOptions): Promise<number> {
  const output = createOutput(options);
  const { config, configFile, warnings } = await loadCliConfig(options, { forStart: true });
  await createFeeds(config, []).check();
  if (output.json) output.document({ ok: true, configFile, warnings, exitCode: 0 });
  else output.line(`configuration OK (${configFile ?? 'no config file; defaults and environment'})`);
  return 0;
}

export async function printConfiguration(options: GlobalOptions): Promise<number> {
  const output = createOutput(options);
  const loaded = await loadCliConfig(options);
  const text = printConfig(loaded);
  if (output.json) {
    const { parse } = await import('yaml');
    output.document(parse(text));
  } else {
    output.line(text.trimEnd());
  }
  return 0;
}

export async function printSchema(options: GlobalOptions): Promise<number> {
  const output = createOutput(options);
  output.line(JSON.stringify(configJsonSchema(), null, output.json ? 0 : 2));
  return 0;
}
