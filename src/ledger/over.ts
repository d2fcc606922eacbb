/** The ledger over the tables of any database: its parts, composed once. */
import { contactsOver } from './contacts-over.ts';
import { actsOver } from './desk/acts.ts';
import { auditsOver, waitingAudits } from './desk/audits.ts';
import { deliveriesOver, deliveryCount } from './desk/deliveries.ts';
import { forgettingOver } from './desk/forgotten.ts';
import { hostsOver } from './desk/hosts.ts';
import { missingOver } from './desk/missing.ts';
import { plansOver } from './desk/plans.ts';
import { presenceOver } from './desk/presence.ts';
import { schedulesOver } from './desk/schedules.ts';
import { snapshotsOver } from './desk/snapshots.ts';
import { takesOver } from './desk/takes.ts';
import { draftStore } from './draft.ts';
import type { ForgettingLedger } from './forgetting.ts';
import { knownKeysOver } from './known-keys.ts';
import { lettersOver, unsettledCount } from './letter-ledger.ts';
import type { Ledger } from './port.ts';
import { forgetEnded } from './retention.ts';
import { runsOver } from './run-ledger.ts';
import { settleRecords } from './settle.ts';
import { stagedRowsOver } from './staged-rows.ts';
import type { StagingLedger } from './staging.ts';
import type { Store } from './tables.ts';

/** What is a database's own matter. */
export type DatabaseParts = Pick<
  Ledger,
  'id' | 'nowMs' | 'bootId' | 'changeCount' | 'standForLead' | 'requireSound' | 'requireWritable' | 'close'
> &
  Pick<ForgettingLedger, 'search' | 'scrub'> &
  Pick<StagingLedger, 'saidFile'>;

export function ledgerOver(store: Store, { search, scrub, saidFile, ...parts }: DatabaseParts): Ledger {
  return {
    ...parts,
    runs: {
      ...runsOver(store),
      ...stagedRowsOver(store),
      settle: (request) => store.transact((tables) => settleRecords(tables, request)),
      ...knownKeysOver(store),
      saidFile,
    },
    contacts: contactsOver(store),
    deadLetters: lettersOver(store),
    audits: auditsOver(store),
    acts: actsOver(store),
    schedules: schedulesOver(store),
    snapshots: snapshotsOver(store),
    takes: takesOver(store),
    missing: missingOver(store),
    forgetting: { ...forgettingOver(store), search, scrub },
    deliveries: deliveriesOver(store),
    hosts: hostsOver(store),
    plans: plansOver(store),
    ...presenceOver(store),
    counts: async () => ({
      openLetters: await unsettledCount(store),
      waitingAudits: await waitingAudits(store.reads),
      waitingDeliveries: await deliveryCount(store.reads, 'waiting'),
      deadDeliveries: await deliveryCount(store.reads, 'dead'),
    }),
    draft: (scratch) =>
      ledgerOver(draftStore(store.reads, scratch), {
        ...{ ...parts, search, scrub, close: async () => undefined },
        // What is known of keys is what the ledger beneath knows.
        saidFile,
      }),
    forget: (nowMs, keepMs, longer) => forgetEnded(store, nowMs, keepMs, longer),
  };
}
