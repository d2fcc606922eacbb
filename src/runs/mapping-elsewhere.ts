/**
 * A mapping that one host has and another one lacks: `map --save` puts it into the folder of its feed on the host where it was typed. The
 * ledger knows by which mapping a feed's files were read, and where.
 */
import { join } from 'node:path';
import { PatchbayError } from '#src/errors.ts';
import { mappingFileName } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { acceptedStates, historyKind, mainFeed } from '#src/ledger/rules/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { shellWord } from '#src/shell-words.ts';

/** For people. */
export interface MappingElsewhere {
  /** `feed shop was read by the mapping "shop" of the host …, which is not on this one`. */
  readonly message: string;
  /** What to copy. */
  readonly hint: string;
}

/**
 * Of a run that was read by its feed's own mapping on another host; null of any other.
 * @param here the host that this data folder is; null where the ledger belongs to it alone.
 */
export async function mappingOfOtherHost(
  { hosts }: Pick<Ledger, 'hosts'>,
  { feed, host, importFolder, mapping, options }: RunRecord,
  here: string | null,
): Promise<MappingElsewhere | null> {
  if (host === null || host === here || mapping === null) return null;
  // A preset is on every host, and a mapping that a command named is none of the feed.
  if (mapping.recognise !== undefined || options.mappingNamed !== null) return null;
  const name = (await hosts.list()).find(({ id }) => id === host)?.name ?? host;
  const what =
    feed === mainFeed
      ? 'the file that mapping.file of the configuration names there'
      : `${shellWord(join(importFolder, feed, mappingFileName))}, or the file that its configuration names,`;
  return {
    message: `feed ${feed} was read by the mapping "${mapping.name}" of the host ${name}, which is not on this one`,
    hint: `Copy ${what} from that host to the same place of this one.`,
  };
}

/**
 * What `openRunFile` threw, with the mapping that another host has for the feed, if nothing here says how to read the file. Only the newest file
 * tells: a mapping that read older ones may be gone there as well.
 */
export async function withMappingElsewhere(
  { runs, hosts }: Pick<Ledger, 'runs' | 'hosts'>,
  run: RunRecord,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof PatchbayError) || run.mapping !== null || !run.options.recognise) return error;
  if (error.code !== 'keyColumnMissing' && error.code !== 'layoutAmbiguous') return error;
  const [last] = await runs.list({ feed: run.feed, states: acceptedStates, kind: historyKind, limit: 1 });
  const elsewhere = last === undefined ? null : await mappingOfOtherHost({ hosts }, last, run.host);
  if (elsewhere === null) return error;
  const { kind, code, message, facts } = error;
  const otherwise = error.hint === null ? '' : ` If that mapping is not meant for it: ${error.hint}`;
  const hint = `${elsewhere.hint} Then import the file again.${otherwise}`;
  return new PatchbayError(kind, code, `${message}; ${elsewhere.message}`, { facts, hint, cause: error });
}
