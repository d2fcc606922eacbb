/** What a command that only reads waits for: told on a terminal, once it takes longer than people wait without a word. */
import type { Home } from '#src/app.ts';
import { sleepUnlessCut } from '#src/clock.ts';
import type { ReadingStage } from '#src/engine/reading-session.ts';
import { unlessAway } from '#src/ledger/wait-out.ts';
import { type Output, printable } from './output.ts';
import { folderTakenText } from './waiting.ts';

/** `workspace`: what a file needs to know of it before its contacts are compared. `contacts`: one of them is looked for in the ledger. */
type Stage = ReadingStage | 'workspace' | 'contacts';

export interface ReadingWaits {
  /** Begins, in place of the stage before. */
  begin(stage: Stage): void;
  /** Something is shown, or all is there. */
  end(): void;
}

const withoutNoteMs = 2_000;

/** Nothing with `--json` or `--quiet`, or where stderr is no terminal. */
export function tellReadingWaits(
  home: Pick<Home, 'clock' | 'ledger' | 'serviceName'>,
  { json, quiet, note }: Pick<Output, 'json' | 'quiet' | 'note'>,
  isTerminal: boolean = process.stderr.isTTY === true,
): ReadingWaits {
  if (json || quiet || !isTerminal) return { begin: () => undefined, end: () => undefined };
  let current: AbortController | null = null;
  const end = (): void => current?.abort();
  const tell = async (stage: Stage, { signal }: AbortController): Promise<void> => {
    const sinceMs = home.clock.nowMs();
    await sleepUnlessCut(home.clock, withoutNoteMs, signal);
    if (signal.aborted) return;
    const text = await textOf(home, stage, sinceMs);
    if (!signal.aborted) note(text);
  };
  return {
    begin: (stage) => {
      end();
      current = new AbortController();
      // A note is not worth an error: what is waited for reports its own.
      tell(stage, current).catch(() => undefined);
    },
    end,
  };
}

async function textOf(
  { ledger, serviceName }: Pick<Home, 'ledger' | 'serviceName'>,
  stage: Stage,
  sinceMs: number,
): Promise<string> {
  const service = serviceName === 'sandbox' ? 'the sandbox' : `the service at ${serviceName}`;
  switch (stage) {
    case 'folder':
      return folderTakenText;
    case 'queue':
      return 'waiting for the queue: it has not answered yet';
    case 'service': {
      const failure = await unlessAway(() => ledger.serviceFailure(), null);
      // It names the address.
      return failure === null || failure.atMs < sinceMs
        ? `waiting for ${service}: it has not answered yet`
        : `waiting for the service: ${printable(failure.message)}`;
    }
    case 'contacts':
      return 'looking at each contact that the ledger knows';
    case 'workspace':
      return `reading the rows, and looking for their contacts: ${service}`;
  }
}
