/** Limits that stop a run before its first write (`rules.md`, "Guards"). */
import { z } from 'zod';
import { percentage, wholeNumber } from '../forms.ts';

const floor = () => wholeNumber(0, 1_000_000_000);

export const guardsSection = z
  .strictObject({
    updatesMax: percentage().prefault('30%').describe("The share of a feed's known contacts that one run may update."),
    updatesFloor: floor().default(10).describe('The update guard works from this many known contacts.'),
    createsMax: percentage()
      .prefault('30%')
      .describe("The contacts that one run may create, as a share of the feed's known contacts."),
    createsFloor: floor().default(100).describe('The create guard works from this many known contacts.'),
    clearsMax: percentage()
      .prefault('10%')
      .describe("The share of a feed's known contacts in which one run may clear fields or remove items."),
    clearsFloor: floor().default(10).describe('The clear guard works from this many known contacts.'),
    deadMax: percentage().prefault('5%').describe('The share of rows that may be dead before any request is sent.'),
    deadFloor: floor().default(20).describe('The dead-row guard works from this many dead rows.'),
    adoptionsMax: percentage()
      .prefault('30%')
      .describe('The share of looked-up contacts that may be there already without the ledger knowing them.'),
    adoptionsFloor: floor().default(10).describe('The adoption guard works from this many such contacts.'),
    refusalsMax: wholeNumber(1, 1_000_000)
      .default(20)
      .describe('So many writes, all refused with one code and none accepted, stop the run.'),
  })
  .describe('Limits that stop a run before its first write.');
