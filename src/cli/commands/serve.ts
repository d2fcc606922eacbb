/** `patchbay serve`: the workspace service alone. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { systemClock } from '#src/clock.ts';
import { createLogger } from '#src/log.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { parseFault } from '#src/service/faults/parse-fault.ts';
import { startService } from '#src/service/start-service.ts';
import type { GlobalOptions } from '../global-options.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { loadCliConfig } from '../open-home.ts';
import { createOutput } from '../output.ts';

interface ServeOptions extends GlobalOptions {
  readonly port?: number;
  readonly key?: string;
  readonly store?: string;
  readonly contacts?: number;
  readonly numbers?: number;
  readonly patch?: 'merge' | 'replace';
  readonly rate?: number;
  readonly pageNumbers?: number;
  readonly fault?: readonly string[];
  readonly faultSeed?: number;
  readonly control?: boolean;
}

const defaultPort = 8787;

export async function serve(options: ServeOptions): Promise<number> {
  const output = createOutput(options);
  const { config } = await loadCliConfig(options);
  const key = options.key ?? randomBytes(18).toString('base64url');
  const store = options.store ?? ':memory:';
  const service = await startService({
    host: config.page.host,
    port: options.port ?? defaultPort,
    apiKeys: [key],
    store: store === ':memory:' ? store : resolve(store),
    seedContacts: options.contacts ?? 25,
    seedPhoneNumbers: options.numbers ?? 4,
    patchMode: options.patch ?? 'merge',
    requestsPerSecond: options.rate ?? null,
    pageNumbers: options.pageNumbers ?? null,
    faults: (options.fault ?? []).map(parseFault),
    faultSeed: options.faultSeed ?? 1,
    control: options.control === true,
    clock: systemClock(),
    log: createLogger({ level: options.verbose === true ? 'debug' : 'warn' }),
  });
  if (output.json) {
    output.document({ origin: service.origin, key: options.key === undefined ? key : null, store });
  } else {
    output.line(`workspace service at ${service.origin} (PATCH ${options.patch ?? 'merge'}s, store ${store})`);
    if (options.key === undefined) output.line(`key      ${key}`);
    output.line(
      `try      curl -H "Authorization: ${options.key === undefined ? key : '$KEY'}" "${service.origin}/v1/contacts?maxResults=3"`,
    );
  }
  const interrupt = listenForInterrupt(() => undefined);
  await interrupt.received;
  await service.close();
  interrupt.dispose();
  return interrupt.exitCode() === exitCodes.terminated ? exitCodes.terminated : 0;
}
