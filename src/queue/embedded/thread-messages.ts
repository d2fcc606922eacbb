/** What the thread of the embedded queue and its owner tell each other. */

/** Where the thread listens. Port 0 is any free port. */
export type ListenAt =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'port'; readonly host: string };

/** What the thread is started with. */
export interface ThreadOptions {
  readonly folder: string;
  readonly listenAt: ListenAt;
  readonly saveEveryMs: number;
}

export type ToThread = { readonly kind: 'stop' };

export type FromThread =
  /** Clients may connect. `port` is null on a socket; `damagedDump` is the file a damaged dump was moved to. */
  | { readonly kind: 'ready'; readonly port: number | null; readonly damagedDump: string | null }
  /** Saving began to fail. Said once until a save works again. */
  | { readonly kind: 'saveFailed'; readonly message: string }
  /** All is closed; the thread ends. `saved` is false when the last save failed. */
  | { readonly kind: 'stopped'; readonly saved: boolean }
  /** The server can't go on, or could not begin; the thread ends. */
  | { readonly kind: 'died'; readonly message: string };
