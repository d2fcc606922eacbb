/** The flags of `src/cli/patchbay.mjs`. */
export const launchFlags = [
  '--max-semi-space-size=8',
  '--heap-growing-percent=30',
  '--no-parallel-scavenge',
  '--no-allocation-site-pretenuring',
  '--v8-pool-size=1',
] as const;
