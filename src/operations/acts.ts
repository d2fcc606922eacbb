/** Acts of people: how they are entered, and the trail of them (`logs --acts`; `docs/rules.md`, "Acts of people"). */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import type { ActFacts, ActKind, ActRecord, NewAct } from '#src/ledger/acts.ts';

/** The reason is cut there: it is a sentence, not a document. */
const reasonCharsMax = 1_000;

/** An act of the person of this home, as the ledger enters it with what it did. */
export async function actOf(
  { ledger, clock, actor }: Pick<Home, 'ledger' | 'clock' | 'actor'>,
  kind: ActKind,
  reason: string | null = null,
  facts: ActFacts = {},
): Promise<NewAct> {
  const cut = reason === null ? null : reason.slice(0, reasonCharsMax);
  return { ...actor, kind, reason: cut, atMs: clock.nowMs(), ledgerAtMs: await ledger.nowMs(clock), facts };
}

export interface ActQuery {
  /** A run's id. */
  readonly run?: string;
  readonly feed?: string;
  readonly limit: number;
}

const actsPerPage = 250;

/** Newest first. Ends with the trail, or at the limit. */
export async function listActs({ ledger }: Pick<Home, 'ledger'>, query: ActQuery): Promise<readonly ActRecord[]> {
  const { run, feed, limit } = query;
  const which = run === undefined ? {} : { runId: run };
  const found: ActRecord[] = [];
  let after: ActRecord | undefined;
  for (;;) {
    const page = await ledger.acts.list({ ...which, ...(after === undefined ? {} : { after }), limit: actsPerPage });
    found.push(...page.filter((act) => feed === undefined || act.feed === feed));
    if (page.length < actsPerPage || found.length >= limit) return found.slice(0, limit);
    after = page.at(-1);
  }
}

/** `logs --acts --json`: one line; `acts` of `runs show --json`. */
export function actDocument({ id, kind, who, by, reason, atMs, ledgerAtMs, run, feed, schedule, facts }: ActRecord) {
  return { act: id, kind, who, by, at: isoInstant(atMs), ledgerAtMs, reason, run, feed, schedule, facts };
}
