/** Limits that stop a run before its first write (`rules.md`, "Guards"): for all feeds here, for one in its own `guards`. */
import { z } from 'zod';
import { percentage, wholeNumber } from '../forms.ts';

const floor = () => wholeNumber(0, 1_000_000_000);

const limits = {
  updatesMax: percentage().describe("The share of the file's known contacts that one run may update."),
  updatesFloor: floor().describe('The update guard works from this many contacts of the file that the feed knows.'),
  createsMax: percentage().describe('The contacts that one run may create, as a share of all that the feed knows.'),
  createsFloor: floor().describe(
    'The create guard works from this many contacts that the feed knows, in the file or not.',
  ),
  clearsMax: percentage().describe(
    "The values that one run may clear or remove, as a share of the file's known contacts.",
  ),
  clearsFloor: floor().describe('The clear guard works from this many values.'),
  deadMax: percentage().describe('The share of rows that may be dead before any request is sent.'),
  deadFloor: floor().describe('The dead-row guard works from this many dead rows.'),
  adoptionsMax: percentage().describe(
    'The share of looked-up contacts that may be there already without the ledger knowing them.',
  ),
  adoptionsFloor: floor().describe('The adoption guard works from this many such contacts.'),
  refusalsMax: wholeNumber(1, 1_000_000).describe(
    'So many writes, all refused with one code and none accepted, stop the run.',
  ),
  rowsMin: percentage().describe(
    'The share of the rows of the last accepted file that the next full file of a named feed must have.',
  ),
  rowsFloor: floor().describe('The row guard works from this many rows of the last accepted file.'),
  keysMin: percentage().describe(
    'The share of the keys of the last accepted file that the next full file of a named feed must have.',
  ),
  keysFloor: floor().describe('The key guard works from this many keys of the last accepted file.'),
  strangersRows: floor().describe('A file of so many rows must share a key with its feed.'),
  strangersFloor: floor().describe('The guard on files of strangers works from this many keys that the feed knows.'),
  olderRows: floor().describe(
    'A file of main that newer ones have followed, and that changes contacts, stops from this many rows.',
  ),
};

export const guardsSection = z
  .strictObject({
    updatesMax: limits.updatesMax.prefault('30%'),
    updatesFloor: limits.updatesFloor.default(10),
    createsMax: limits.createsMax.prefault('30%'),
    createsFloor: limits.createsFloor.default(100),
    clearsMax: limits.clearsMax.prefault('10%'),
    clearsFloor: limits.clearsFloor.default(10),
    deadMax: limits.deadMax.prefault('5%'),
    deadFloor: limits.deadFloor.default(20),
    adoptionsMax: limits.adoptionsMax.prefault('30%'),
    adoptionsFloor: limits.adoptionsFloor.default(10),
    refusalsMax: limits.refusalsMax.default(20),
    rowsMin: limits.rowsMin.prefault('70%'),
    rowsFloor: limits.rowsFloor.default(10),
    keysMin: limits.keysMin.prefault('50%'),
    keysFloor: limits.keysFloor.default(10),
    strangersRows: limits.strangersRows.default(20),
    strangersFloor: limits.strangersFloor.default(100),
    olderRows: limits.olderRows.default(20),
  })
  .describe('Limits that stop a run before its first write.');

/** The limits of one feed: any of them, none with a default. */
export const feedGuards = z.strictObject(limits).exactPartial().describe('Limits that hold for this feed instead.');
