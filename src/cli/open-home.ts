/** From options and environment to an open data folder, the same way for every command. */
import { type Home, openHome } from '#src/app.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import type { ConfigFlags, LoadedConfig } from '#src/config/load.ts';
import { loadConfig } from '#src/config/load.ts';
import { PatchbayError } from '#src/errors.ts';
import { createLogger, type Logger, silentLogger } from '#src/log.ts';
import type { GlobalOptions } from './global-options.ts';
import { openLogStream } from './log-stream.ts';

export async function loadCliConfig(options: GlobalOptions): Promise<LoadedConfig> {
  const flags: ConfigFlags = {
    ...(options.data === undefined ? {} : { data: { folder: options.data } }),
    ...(options.verbose === true && process.env.LOG_LEVEL === undefined ? { log: { level: 'debug' } } : {}),
  };
  const loaded = await loadConfig({
    env: process.env,
    flags,
    configPath: options.config ?? null,
    cwd: process.cwd(),
  });
  for (const warning of loaded.warnings) process.stderr.write(`patchbay: ${warning}\n`);
  return loaded;
}

/** What a command does with the data folder. */
export type HomeUse =
  /** Looks only: no log file. `--sandbox` looks into the sandbox's. */
  | 'look'
  /** Works: may become the engine. */
  | 'work'
  /** `start`: without a service it is the sandbox. */
  | 'start';

/**
 * Opens the data folder. Without a configured service it is the sandbox where somebody asked for it, on a terminal, and
 * for `start`.
 * @throws PatchbayError `usage` `serviceMissing`.
 */
export async function openCliHome(options: GlobalOptions, use: HomeUse): Promise<Home> {
  const { config } = await loadCliConfig(options);
  const sandboxAsked = options.sandbox === true;
  const chosen = sandboxAsked ? { ...config, service: { ...config.service, baseUrl: null } } : config;
  if (use === 'work' && chosen.service.baseUrl === null && !sandboxAsked && process.stdout.isTTY !== true) {
    throw new PatchbayError('usage', 'serviceMissing', 'no service is configured', {
      hint: 'Set PATCHBAY_BASE_URL and PATCHBAY_API_KEY, or say --sandbox to try it without an account.',
    });
  }
  return openHome(chosen, await openLog(options, chosen, use), { sandboxAsked, look: use === 'look' });
}

async function openLog(options: GlobalOptions, config: LoadedConfig['config'], use: HomeUse): Promise<Logger> {
  if (use === 'look') return silentLogger();
  const { logs } = dataFolders(config, config.service.baseUrl === null ? 'sandbox' : 'real');
  const onTerminal = use === 'start' || options.verbose === true;
  return createLogger({
    level: config.log.level,
    stream: await openLogStream({ folder: logs, terminal: onTerminal ? (config.log.format ?? 'auto') : null }),
  });
}
