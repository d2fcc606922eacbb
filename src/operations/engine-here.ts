/** What the engine of this data folder has said of itself, for other processes on it. */
import type { Home } from '#src/app.ts';
import { isEngineRunning } from '#src/ledger/engine-presence.ts';
import type { HostRecord } from '#src/ledger/hosts.ts';
import { followedSettings, type SettingApart, settingsApart } from './followed-settings.ts';

export type HomeBesideEngine = Pick<Home, 'ledger' | 'ledgerPlace' | 'host' | 'identity'>;

/** Null where none has come up. One of another host is none. Its lock tells for certain whether it runs. */
export async function engineHere({
  ledger,
  ledgerPlace,
  host,
  identity,
}: HomeBesideEngine): Promise<NonNullable<HostRecord['engine']> | null> {
  if (ledgerPlace.kind === 'file') {
    const { engine } = await ledger.registrations();
    return engine === null || identity.isDead(engine.identity) ? null : engine;
  }
  const own = (await ledger.hosts.list()).find(({ id }) => id === host?.id);
  return own === undefined || own.hasLeft || identity.isDead(own.session) ? null : own.engine;
}

/** Compares what decides about work with what the running engine follows; it is all the same where none runs, and of one of an older version. */
export async function besideEngine(
  home: HomeBesideEngine & Pick<Home, 'config' | 'folders'>,
): Promise<(about?: Parameters<typeof settingsApart>[2]) => readonly SettingApart[]> {
  const followed = isEngineRunning(home) ? (await engineHere(home))?.followed : undefined;
  if (followed === undefined) return () => [];
  const here = followedSettings(home.config);
  return (about) => settingsApart(followed, here, about);
}
