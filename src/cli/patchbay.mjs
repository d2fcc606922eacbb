#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=30 --no-parallel-scavenge --no-allocation-site-pretenuring --v8-pool-size=1
// The flags make V8 collect early, on the thread that works, and make each object young: the memory of a long import then stays near
// that of a short one.
import nodeModule from 'node:module';

// Plain JavaScript, so that an older Node can still say in one sentence what is missing.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `Patchbay needs Node 24 and this is ${process.version}. In its folder, "npx --no-install patchbay …" and "npm start" bring their own.\n`,
  );
  process.exit(2);
}
// What was compiled once is found again: `--help` takes half the time.
nodeModule.enableCompileCache();
const { main } = await import('./main.ts');
await main(process.argv);
// All is done and closed. What still holds the process is a connection to a queue that does not answer: the system closes it.
const lingerMs = 3_000;
setTimeout(() => process.exit(), lingerMs).unref();
