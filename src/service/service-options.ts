/** What a workspace service is started with, and the limits that it has where the caller names none. */
import type { Clock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import type { PatchMode } from '#src/service/contacts/contact-changes.ts';
import type { ReservedSources } from './contacts/reserved-sources.ts';
import type { FaultSpec } from './faults/faults.ts';
import type { SocketLimits } from './http/listen.ts';
import { type ErrorDocs, errorDocsValues } from './http/replies.ts';
import { checkKeys } from './keys.ts';
import type { ReplyObserver } from './openapi/openapi-document.ts';
import type { WorkspaceFileToLoad } from './workspace-file/load-workspace.ts';

/** Behaviour of the service, with or without a port. */
export interface ServiceBehaviour {
  /**
   * Raw keys that the Authorization header may hold (section 5). They replace those that the store remembers. Empty:
   * those of the store, and a random one (`RunningService.printedKey`).
   */
  readonly apiKeys: readonly string[];
  readonly patchMode: PatchMode;
  /** Requests per second for each key; null for no limit (section 8: not shown). */
  readonly requestsPerSecond: number | null;
  /** Phone numbers per page; null answers all of them at once, without a token (4.4, 4.6). */
  readonly pageNumbers: number | null;
  /** The value of `docs` in errors (section 7: not shown). Default: that of the newest public description. */
  readonly errorDocs?: ErrorDocs;
  /** Whether messages may go to numbers outside the United States and Canada (section 7, 403). Default: false. */
  readonly internationalMessaging?: boolean;
  readonly faults: readonly FaultSpec[];
  /** The same seed and the same requests give the same faults. */
  readonly faultSeed: number;
  /** Opens `POST /__control`, which replaces the faults at run time. */
  readonly control: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** Looks at every reply. Default: none. */
  readonly replyObserver?: ReplyObserver;
  /** Default: 256 KiB. */
  readonly requestBodyBytesMax?: number;
  /** In the place of those that section 8 leaves unnamed, which by default are those of `docs/facts.md`. */
  readonly unnamedReservedSources?: ReservedSources;
}

export interface ServiceOptions extends ServiceBehaviour {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Where one differs from `defaultSocketLimits`. */
  readonly socketLimits?: Partial<SocketLimits>;
  /** A file's path, or `:memory:`. */
  readonly store: string;
  /** Invented contacts of a new store; a store that exists keeps its content. */
  readonly seedContacts: number;
  /** Invented phone numbers of a new store. */
  readonly seedPhoneNumbers: number;
  /** Fills a new store from a workspace file, in place of anything invented; a store that exists is refused. */
  readonly load?: WorkspaceFileToLoad;
}

export const defaultRequestBodyBytesMax = 256 * 1024;

export const defaultErrorDocs: ErrorDocs = errorDocsValues[0];

// The options of a service, checked before anything is opened for it.

/** Throws `usage` errors: `keyMalformed`, `tooManyKeys`, `limitMalformed`. */
export function checkBehaviour({ apiKeys, requestsPerSecond, pageNumbers }: ServiceBehaviour): void {
  checkKeys(apiKeys);
  requirePositive('requests per second', requestsPerSecond, 'Leave them out for no limit.');
  requirePositive('phone numbers of a page', pageNumbers, 'Leave them out for all phone numbers at once.');
}

/** `what`: in the plural, as in "the requests per second must be a whole number". */
function requirePositive(what: string, value: number | null, hint: string): void {
  if (value === null || (Number.isInteger(value) && value > 0)) return;
  throw new PatchbayError('usage', 'limitMalformed', `the ${what} must be a whole number above 0, not ${value}`, {
    facts: { value },
    hint,
  });
}
