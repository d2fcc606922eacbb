/** The flags of `src/cli/patchbay.mjs`. */
export const launchFlags = ['--optimize-for-size', '--max-semi-space-size=8', '--heap-growing-percent=30'] as const;
