/** What audits work with. */
import type { Clock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Logger } from '#src/log.ts';
import type { Workspace } from '#src/workspace/port.ts';

export interface AuditParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly log: Logger;
  /** The folder that reports go to. */
  readonly reports: string;
}
