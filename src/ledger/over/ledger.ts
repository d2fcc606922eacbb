/** The ledger over the tables of any database: its parts, composed once. */

import { actsOver } from '#src/ledger/desk/acts.ts';
import { auditsOver, waitingAudits } from '#src/ledger/desk/audits.ts';
import { deliveriesOver, deliveryCount } from '#src/ledger/desk/deliveries.ts';
import { forgettingOver } from '#src/ledger/desk/forgotten.ts';
import { hostsOver } from '#src/ledger/desk/hosts.ts';
import { missingOver } from '#src/ledger/desk/missing.ts';
import { plansOver } from '#src/ledger/desk/plans.ts';
import { presenceOver } from '#src/ledger/desk/presence.ts';
import { schedulesOver } from '#src/ledger/desk/schedules.ts';
import { snapshotsOver } from '#src/ledger/desk/snapshots.ts';
import { takesOver } from '#src/ledger/desk/takes.ts';
import type { ForgettingLedger } from '#src/ledger/forgetting.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { StagingLedger } from '#src/ledger/staging.ts';
import type { Store } from '#src/ledger/tables.ts';
import { contactsOver } from './contacts.ts';
import { draftStore } from './draft.ts';
import { knownKeysOver } from './known-keys.ts';
import { lettersOver, unsettledCount } from './letters.ts';
import { forgetEnded } from './retention.ts';
import { runsOver } from './runs.ts';
import { settleRecords } from './settle.ts';
import { stagedRowsOver } from './staged-rows.ts';

/** What is a database's own matter. */
export type DatabaseParts = Pick<
  Ledger,
  'id' | 'placeId' | 'nowMs' | 'bootId' | 'changeCount' | 'standForLead' | 'requireSound' | 'requireWritable' | 'close'
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
