/**
 * The contract of the ledger port: what every adapter must do, in sentences (`src/ledger/port.ts`).
 *
 * A test opens a fresh ledger, and where it needs another process's view, a second connection to it. No sentence knows
 * of SQL, files or servers.
 */
import { describe } from 'vitest';
import { actContract } from './act-contract.ts';
import { auditContract } from './audit-contract.ts';
import { batchContract } from './batch-contract.ts';
import { deadLetterContract } from './dead-letter-contract.ts';
import { deliveryContract } from './delivery-contract.ts';
import { forgettingContract } from './forgetting-contract.ts';
import { heldContract } from './held-contract.ts';
import { hostContract } from './host-contract.ts';
import { intentContract } from './intent-contract.ts';
import { leaseContract } from './lease-contract.ts';
import { linkContract } from './link-contract.ts';
import { missingContract } from './missing-contract.ts';
import { planContract } from './plan-contract.ts';
import { runContract } from './run-contract.ts';
import { scheduleContract } from './schedule-contract.ts';
import { settleContract } from './settle-contract.ts';
import { snapshotContract } from './snapshot-contract.ts';
import { stagingContract } from './staging-contract.ts';
import type { OpenLedger } from './support/opened-ledger.ts';
import { takeContract } from './take-contract.ts';
import { workspaceContract } from './workspace-contract.ts';

export function ledgerContract(name: string, open: OpenLedger): void {
  describe(name, () => {
    describe('binding, pause and changes', () => workspaceContract(open));
    describe('runs', () => runContract(open));
    describe('staging', () => stagingContract(open));
    describe('batches', () => batchContract(open));
    describe('leases', () => leaseContract(open));
    describe('intents and horizons', () => intentContract(open));
    describe('links', () => linkContract(open));
    describe('settling', () => settleContract(open));
    describe('held fields', () => heldContract(open));
    describe('dead letters', () => deadLetterContract(open));
    describe('audits', () => auditContract(open));
    describe('acts of people', () => actContract(open));
    describe('schedules', () => scheduleContract(open));
    describe('deliveries', () => deliveryContract(open));
    describe('snapshots', () => snapshotContract(open));
    describe('forgetting', () => forgettingContract(open));
    describe('people who left', () => missingContract(open));
    describe('takes', () => takeContract(open));
    describe('hosts', () => hostContract(open));
    describe('plans', () => planContract(open));
  });
}
