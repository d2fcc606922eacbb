/**
 * Who leads: of all engines on a ledger one at a time does what must be done once for all of them: ticks, sweeps, notices, audits.
 *
 * Over a ledger in a file the one engine of the data folder always leads. Over PostgreSQL the one that holds a lock of the database does
 * (`postgres/lead.ts`).
 */

/** An engine that is ready to lead. */
export interface Candidate {
  /** Whether it would lead now. Where it does and would not any more, it gives the lead back. */
  mayLead(): boolean;
  /** It leads from now on, until the signal fires. Must not throw. */
  onLead(lost: AbortSignal): void;
}

export interface Candidacy {
  /** Whether it leads at this instant. False before another one may begin to. */
  isLeading(): boolean;
  /** Gives the lead back, if it has it. */
  close(): Promise<void>;
}

/** For a ledger that belongs to one engine. */
export function alwaysLeads({ onLead }: Candidate): Candidacy {
  const over = new AbortController();
  onLead(over.signal);
  return { isLeading: () => !over.signal.aborted, close: async () => over.abort() };
}
