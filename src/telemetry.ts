/**
 * Telemetry: what is published for observers, which are metrics, traces and tests.
 *
 * *Work* takes time: it begins, holds other work, and ends. A *fact* happens at one moment. Both are published on diagnostics channels
 * of Node: what does the work knows no observer, and without observers it costs a look at a boolean.
 *
 * Only the shells publish (a request that is sent, a chunk that is settled); decisions stay pure. Invariant: ids, feeds, codes, counts and
 * line numbers only; no personal data and no keys (`docs/rules.md`, "Secrets and personal data").
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';

/** By kind, what is known of work. What can change is filled in while it is done; null until then. */
export interface Works {
  /** A file is read to its end, compared and staged. */
  readonly staging: {
    readonly run: string;
    readonly feed: string;
    /** Rows of the file. */
    rowCount: number | null;
    /** The code for which the file was refused. Absent where it was not. */
    refused?: string;
  };
  /** A job takes a batch of staged rows. */
  readonly batch: {
    readonly run: string;
    readonly batch: number;
    /** Null where the run is not known. */
    feed: string | null;
    end: 'done' | 'deferred' | 'stale' | null;
  };
  /** The keys of a batch that one look-up serves. */
  readonly chunk: {
    readonly run: string;
    readonly feed: string;
    readonly batch: number;
    readonly rowCount: number;
    /** The smallest physical line of its rows. */
    readonly firstLine: number;
  };
  /** One request to the service, with its wait at the rate gate. */
  readonly request: {
    readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
    /** One of a few phrases, as `look up contacts`. */
    readonly operation: string;
    /** A read that was sent before. */
    readonly isRepeat: boolean;
    gateWaitMs: number | null;
    /** From the first byte written to the end of the reply; null where nothing was written. */
    tookMs: number | null;
    /** Of the reply; null where none came. */
    status: number | null;
  };
  /** The end of a run: report, fix-file, archive. */
  readonly finishing: { readonly run: string };
}
export type WorkKind = keyof Works;

/** By kind, what is known of a fact. */
export interface Facts {
  /** Rows that got their outcome. */
  readonly rows: {
    readonly feed: string;
    readonly outcomes: { readonly [Outcome in RowOutcome]?: number };
  };
  readonly runEnded: {
    readonly run: string;
    readonly feed: string;
    readonly state: 'done' | 'doneWithDead' | 'failed' | 'cancelled';
    /** Of its reason: why it failed or was cancelled; null where it has none. */
    readonly code: string | null;
    /** When its file began to be read, or its end if it never did. On the wall clock. */
    readonly startedAtMs: number;
    readonly endedAtMs: number;
    /** What it worked, without the time it was stopped. */
    readonly seconds: number;
    readonly rowCount: number;
  };
  /** Work began to wait for the service or its key. */
  readonly paused: { readonly code: string; readonly scope: 'all' | 'writes' };
}
export type FactKind = keyof Facts;
export const rowOutcomes = ['created', 'updated', 'unchanged', 'skipped', 'dead'] as const;
export type RowOutcome = (typeof rowOutcomes)[number];

/** Work in progress. The same object at its beginning and at its end. */
export type WorkInHand = {
  readonly [Kind in WorkKind]: { readonly kind: Kind; readonly known: Works[Kind]; readonly within: WorkInHand | null };
}[WorkKind];

export type WorkMessage =
  | { readonly moment: 'begins'; readonly work: WorkInHand }
  /** `error`: what it threw; undefined where it did not. */
  | { readonly moment: 'ended'; readonly work: WorkInHand; readonly tookMs: number; readonly error: unknown };

export type FactMessage = {
  readonly [Kind in FactKind]: { readonly kind: Kind; readonly known: Facts[Kind] };
}[FactKind];

const workChannel = channel('patchbay:work');
const factChannel = channel('patchbay:fact');
const inHand = new AsyncLocalStorage<WorkInHand>();

/**
 * Does the work and publishes its beginning and its end.
 * @param known is given to the work, which fills in what it learns.
 * @throws what the work throws.
 */
export async function inWork<Kind extends WorkKind, Result>(
  kind: Kind,
  known: Works[Kind],
  carryOut: (known: Works[Kind]) => Promise<Result>,
): Promise<Result> {
  if (!workChannel.hasSubscribers) return await carryOut(known);
  // `kind` and `known` belong together by the signature, which the union cannot see.
  const work = { kind, known, within: inHand.getStore() ?? null } as WorkInHand;
  const startedAtMs = performance.now();
  const publishEnd = (error: unknown): void => {
    const tookMs = performance.now() - startedAtMs;
    workChannel.publish({ moment: 'ended', work, tookMs, error } satisfies WorkMessage);
  };
  workChannel.publish({ moment: 'begins', work } satisfies WorkMessage);
  try {
    const result = await inHand.run(work, () => carryOut(known));
    publishEnd(undefined);
    return result;
  } catch (error) {
    publishEnd(error);
    throw error;
  }
}

export function publishFact<Kind extends FactKind>(kind: Kind, known: Facts[Kind]): void {
  if (factChannel.hasSubscribers) factChannel.publish({ kind, known } as FactMessage);
}

export interface Observer {
  readonly onWork?: (message: WorkMessage) => void;
  readonly onFact?: (message: FactMessage) => void;
}

/** Neither function may throw: Node would end the process. @returns a function that ends the observing. */
export function observe({ onWork, onFact }: Observer): () => void {
  const toWork = (message: unknown): void => onWork?.(message as WorkMessage);
  const toFact = (message: unknown): void => onFact?.(message as FactMessage);
  if (onWork !== undefined) workChannel.subscribe(toWork);
  if (onFact !== undefined) factChannel.subscribe(toFact);
  return () => {
    workChannel.unsubscribe(toWork);
    factChannel.unsubscribe(toFact);
  };
}
