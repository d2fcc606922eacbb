/** From the options of `patchbay serve` to those of the service. */
import { resolve } from 'node:path';
import { systemClock } from '#src/clock.ts';
import { createLogger } from '#src/log.ts';
import { parseReservedSources } from '#src/service/contacts/parse-reserved-sources.ts';
import { parseFault } from '#src/service/faults/parse-fault.ts';
import type { ServiceOptions } from '#src/service/service-options.ts';
import type { GlobalOptions } from '../global-options.ts';

export interface ServeOptions extends GlobalOptions {
  readonly port?: number;
  readonly key?: readonly string[];
  readonly keyFile?: string;
  readonly store?: string;
  readonly load?: string;
  readonly dump?: string;
  readonly contacts?: number;
  readonly numbers?: number;
  readonly patch?: 'merge' | 'replace';
  readonly rate?: number;
  readonly pageNumbers?: number;
  readonly international?: boolean;
  readonly fault?: readonly string[];
  readonly faultSeed?: number;
  readonly control?: boolean;
  readonly reservedSource?: readonly string[];
}

const defaultPort = 8787;

/** What the options do not hold themselves. */
interface ServeFacts {
  readonly host: string;
  readonly apiKeys: readonly string[];
  /** A path, or `:memory:`. */
  readonly store: string;
  /** Ends a load; null where nothing is loaded. */
  readonly loadSignal: AbortSignal | null;
}

/** Throws `usage` errors for a fault or a reserved source that cannot be read. */
export function serviceOptionsOf(options: ServeOptions, facts: ServeFacts): ServiceOptions {
  const { host, apiKeys, store, loadSignal } = facts;
  return {
    host,
    port: options.port ?? defaultPort,
    apiKeys,
    ...(options.reservedSource === undefined ? {} : { reservedSources: parseReservedSources(options.reservedSource) }),
    store: store === ':memory:' ? store : resolve(store),
    seedContacts: options.contacts ?? 25,
    seedPhoneNumbers: options.numbers ?? 4,
    ...(options.load === undefined || loadSignal === null
      ? {}
      : { load: { file: options.load, stdin: () => process.stdin, signal: loadSignal } }),
    patchMode: options.patch ?? 'merge',
    requestsPerSecond: options.rate ?? null,
    pageNumbers: options.pageNumbers ?? null,
    internationalMessaging: options.international === true,
    faults: (options.fault ?? []).map(parseFault),
    faultSeed: options.faultSeed ?? 1,
    control: options.control === true,
    clock: systemClock(),
    log: createLogger({ level: options.verbose === true ? 'debug' : 'warn' }),
  };
}
