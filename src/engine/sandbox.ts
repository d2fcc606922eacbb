/** The sandbox: the embedded workspace service, with its own store and key in the data folder. */
import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '#src/clock.ts';
import type { SandboxFolders } from '#src/config/data-folders.ts';
import type { Logger } from '#src/log.ts';
import { defaultPatchMode } from '#src/service/contacts/contact-changes.ts';
import { type RunningService, startService } from '#src/service/start-service.ts';
import { makeFolder } from '#src/whole-file.ts';

export interface Sandbox {
  readonly origin: string;
  readonly apiKey: string;
  close(): Promise<void>;
}

/** A new sandbox holds some contacts and numbers as examples. */
const seedContacts = 25;
const seedPhoneNumbers = 4;

type Place = Pick<SandboxFolders, 'serviceStore' | 'sandboxKeyFile'>;

/** @throws PatchbayError `usage` if its store cannot be opened. */
export async function startSandbox(folders: Place, clock: Clock, log: Logger): Promise<Sandbox> {
  const apiKey = await readOrMakeKey(folders.sandboxKeyFile);
  const service: RunningService = await startService({
    port: 0,
    apiKeys: [apiKey],
    store: folders.serviceStore,
    seedContacts,
    seedPhoneNumbers,
    patchMode: defaultPatchMode,
    requestsPerSecond: null,
    pageNumbers: null,
    faults: [],
    faultSeed: 1,
    control: false,
    clock,
    log,
  });
  return { origin: service.origin, apiKey, close: () => service.close() };
}

/** The caller holds the engine's lock, so no other process creates the file at the same time. */
async function readOrMakeKey(file: string): Promise<string> {
  const known = await readFile(file, 'utf8').catch(() => '');
  if (known.trim() !== '') return known.trim();
  const key = randomBytes(24).toString('base64url');
  await makeFolder(dirname(file));
  await using handle = await open(file, 'w', 0o600);
  await handle.writeFile(`${key}\n`);
  return key;
}
