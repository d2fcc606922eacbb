/**
 * The lead among the engines on a schema: a lock of the database that belongs to a session, and so leaves with it.
 *
 * The session of the leader asks the server for an answer every second. The server ends a session that asks nothing for a while
 * (`idle_session_timeout`), so that the lead also leaves an engine that is frozen, or whose packets get lost; the engine itself
 * takes the lead for lost earlier than that, counted from when it sent its last question that was answered.
 *
 * Invariant: no two engines lead at the same time, as long as the server's seconds and those of the engine's machine are about equally long.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Candidacy, Candidate } from '#src/ledger/lead.ts';
import type { Address } from './address.ts';
import { clientOptions, lockOf } from './pool.ts';

/** How often the lock is asked for, and the server for an answer. */
const askEveryMs = 1_000;
const answerMsMax = 3_000;
/** After a question that was answered the engine leads for this long. */
const leadMs = 5_000;
/** The server ends the session this long after it. Takes the difference of the clocks' speed, and the server's own delay. */
const sessionIdleMs = 6_500;

export function standForLead(address: Address, { mayLead, onLead }: Candidate): Candidacy {
  const closing = new AbortController();
  const lock = lockOf(address.schema, 'lead');
  let leadsUntilMs = Number.NEGATIVE_INFINITY;

  const rested = async (ms: number): Promise<void> => {
    await sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
  };

  /** Ends when the lead is lost or given back. @throws where the server does not answer in time. */
  const lead = async (client: pg.Client, askedAtMs: number): Promise<void> => {
    const lost = new AbortController();
    leadsUntilMs = askedAtMs + leadMs;
    try {
      onLead(lost.signal);
      while (!closing.signal.aborted && mayLead()) {
        await rested(askEveryMs);
        const nextAtMs = performance.now();
        await answered(client.query('SELECT 1'));
        leadsUntilMs = nextAtMs + leadMs;
      }
    } finally {
      leadsUntilMs = Number.NEGATIVE_INFINITY;
      lost.abort(new DOMException('another engine leads', 'AbortError'));
    }
  };

  /** One session: waits for the lead, and has it. Ends with the connection, at a resignation, or when the candidacy is closed. */
  const session = async (): Promise<void> => {
    const client = new pg.Client(sessionOptions(address));
    // What breaks between two questions is met by the next one.
    client.on('error', () => undefined);
    try {
      await client.connect();
      while (!closing.signal.aborted && mayLead()) {
        const askedAtMs = performance.now();
        const { rows } = await answered(client.query(`SELECT pg_try_advisory_lock(${lock}) AS has`));
        if (rows[0]?.has === true) return await lead(client, askedAtMs);
        await rested(askEveryMs);
      }
    } finally {
      // With the session goes the lock. A server that does not take the goodbye is left.
      await answered(client.end()).catch(() => undefined);
    }
  };

  const stand = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      // The database is away: its other users report it.
      if (mayLead()) await session().catch(() => undefined);
      await rested(askEveryMs);
    }
  };
  const standing = stand();

  return {
    isLeading: () => performance.now() < leadsUntilMs,
    close: async () => {
      closing.abort();
      await standing;
    },
  };
}

function sessionOptions(address: Address): pg.ClientConfig {
  const common = clientOptions(address, 'lead');
  return { ...common, options: `${common.options} -c idle_session_timeout=${sessionIdleMs}` };
}

async function answered<Answer>(work: Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('the lead was not answered')), answerMsMax);
  // The other one of the two may be rejected later, when it is no longer awaited.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
