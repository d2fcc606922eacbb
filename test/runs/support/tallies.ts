/** Figures for guards: the defaults of the configuration, limits that never say no, and a tally of nothing. */
import type { GuardLimits, StagedTally } from '#src/runs/guards.ts';

/** As `rules.md`, "Guards" has them. */
export const defaultGuards: GuardLimits = {
  updatesMax: 0.3,
  updatesFloor: 10,
  createsMax: 0.3,
  createsFloor: 100,
  clearsMax: 0.1,
  clearsFloor: 10,
  deadMax: 0.05,
  deadFloor: 20,
  rowsMin: 0.7,
  rowsFloor: 10,
  keysMin: 0.5,
  keysFloor: 10,
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
  rowsMin: 0,
  rowsFloor: 10,
  keysMin: 0,
  keysFloor: 10,
};

export function tallyOf(given: Partial<StagedTally>): StagedTally {
  return { rows: 1_000, known: 0, updates: 0, creates: 0, clears: 0, dead: 0, ...given };
}
