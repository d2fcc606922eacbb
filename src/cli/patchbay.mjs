#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=30 --no-parallel-scavenge --no-allocation-site-pretenuring --v8-pool-size=1
// The flags make V8 collect early, on the thread that works, and make each object young: the memory of a long import then stays near
// that of a short one.
import { existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import nodeModule from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// Plain JavaScript, so that a Node that cannot run the others can still say in one sentence what is missing.
const folder = resolve(fileURLToPath(new URL('../..', import.meta.url)));
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  const own = existsSync(join(folder, 'node_modules', '.bin', 'node'))
    ? 'In its folder, "npx --no-install patchbay …" and "npm start" bring their own.'
    : `Install Node 24, or let "npm ci" (without --omit=optional) in ${folder} bring one.`;
  refuse(`Patchbay needs Node 24 and this is ${process.version}. ${own}`);
}
if (process.features.typescript === false) {
  const isTold = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((one) => one.includes('strip-types'));
  const hint = isTold
    ? 'take --no-strip-types out of NODE_OPTIONS'
    : 'it was built without that; use the one of nodejs.org';
  refuse(`Patchbay is written in TypeScript, which this Node does not run: ${hint}.`);
}
// What was compiled once is found again: `--help` takes half the time.
const cache = cacheFolder();
if (cache !== null) nodeModule.enableCompileCache(cache);
const { main } = await import('./main.ts').catch(refuseToLoad);
await main(process.argv);
// All is done and closed. What still holds the process is a connection to a queue that does not answer: the system closes it.
const lingerMs = 3_000;
setTimeout(() => process.exit(), lingerMs).unref();

/** Node runs what it finds there as if it were this program, so no other user may write to it: Node's own choice would be a folder in `/tmp`. */
function cacheFolder() {
  try {
    const named = process.env.XDG_CACHE_HOME ?? '';
    const all = isAbsolute(named) ? named : join(homedir(), '.cache');
    if (!isAbsolute(all)) return null;
    const cache = join(all, 'patchbay', 'compiled');
    const own = join(all, 'patchbay');
    // Root who works with the home of another user makes nothing there.
    const there = [own, all, dirname(all)].find((one) => existsSync(one));
    if (there === undefined || !isOfThisUser(statSync(there))) return null;
    for (const one of [all, own, cache]) if (!existsSync(one)) mkdirSync(one, { mode: 0o700 });
    const found = lstatSync(cache);
    const isClosed = process.getuid === undefined || (found.mode & 0o022) === 0;
    return found.isDirectory() && isOfThisUser(found) && isClosed ? cache : null;
  } catch {
    // Without a home, or where nothing can be written, everything is compiled anew.
    return null;
  }
}

/** Windows names no owner: there it is in the user's own folder. */
function isOfThisUser({ uid }) {
  return process.getuid === undefined || uid === process.getuid();
}

function refuseToLoad(error) {
  if (error.code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    refuse(
      'Patchbay runs from a clone of its repository and not as an installed package: clone it, run "npm ci" in that folder, and start it there.',
    );
  if (error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes('Cannot find package'))
    refuse(
      `A package that Patchbay needs is not installed: run "npm ci" in ${folder}. (${error.message.split('\n')[0]})`,
    );
  throw error;
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}
