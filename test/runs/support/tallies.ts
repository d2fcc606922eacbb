/** Figures for guards: the defaults of the configuration, limits that never say no, and a tally of nothing. */
import type { FeedTally, GuardLimits } from '#src/runs/guards.ts';

/** As `docs/rules.md`, "Guards" has them. */
export const defaultGuards: GuardLimits = {
  updatesMax: 0.3,
  updatesFloor: 10,
  createsMax: 0.3,
  createsFloor: 100,
  clearsMax: 0.1,
  clearsFloor: 10,
  deadMax: 0.05,
  deadFloor: 20,
  lossesMax: 0.2,
  lossesFloor: 20,
  rowsMin: 0.7,
  rowsFloor: 10,
  keysMin: 0.5,
  keysFloor: 10,
  strangersRows: 20,
  strangersFloor: 100,
  olderRows: 20,
};

/** For tests about something else. */
export const generousGuards: GuardLimits = {
  updatesMax: 1_000,
  updatesFloor: 10,
  createsMax: 1_000,
  createsFloor: 100,
  clearsMax: 1_000,
  clearsFloor: 10,
  deadMax: 1,
  deadFloor: 20,
  lossesMax: 1,
  lossesFloor: 20,
  rowsMin: 0,
  rowsFloor: 10,
  keysMin: 0,
  keysFloor: 10,
  strangersRows: 1_000_000,
  strangersFloor: 100,
  olderRows: 1_000_000,
};

/** The feed knows the contacts of the file and no others, unless `knownKeys` says so. */
export function tallyOf(given: Partial<FeedTally>): FeedTally {
  const known = given.known ?? 0;
  return {
    rows: 1_000,
    known,
    shared: known,
    knownKeys: known,
    updates: 0,
    creates: 0,
    clears: 0,
    dead: 0,
    lossy: 0,
    gone: 0,
    cleared: 0,
    goneCleared: 0,
    others: { valueCount: 0, contactCount: 0 },
    ...given,
  };
}
