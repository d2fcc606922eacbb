import { describe } from 'vitest';
import { batchContract } from '#test/contracts/batch-contract.ts';
import { intentContract } from '#test/contracts/intent-contract.ts';
import { leaseContract } from '#test/contracts/lease-contract.ts';
import { settleContract } from '#test/contracts/settle-contract.ts';
import type { OpenLedger } from '#test/contracts/support/opened-ledger.ts';
import { createMemoryStore, memoryLedger } from './memory-ledger.ts';

const open: OpenLedger = async () => {
  const ledger = memoryLedger(createMemoryStore(), async (_name, _call, work) => work());
  return { ledger, reopen: async () => ledger, close: async () => undefined };
};

describe("the model's ledger keeps the contract of the real one", () => {
  describe('batches', () => batchContract(open));
  describe('leases', () => leaseContract(open));
  describe('intents and horizons', () => intentContract(open));
  describe('settling', () => settleContract(open));
});
