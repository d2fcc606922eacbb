/**
 * What `start` answers while it waits for its ledger, before there is a page: that the process lives, that it takes no files yet, and why. A
 * supervisor would end a process that answers nothing, although it only waits.
 *
 * It shows nothing that needs a token.
 */
import { Hono } from 'hono';
import type { PatchbayError } from '#src/errors.ts';
import { failureMessage, wantsJson } from './message-page.ts';
import { isLoopbackHost, otherMethod, refuseOtherMethods } from './refusals.ts';
import { openPage, type PageAddress, type RunningPage } from './start-page.ts';

export interface WaitingPage {
  /** Begins to answer, where it does not yet. What keeps it from its port, the page itself will tell. */
  wait(trouble: PatchbayError, at: PageAddress & Token): void;
  /** The ledger is there, and the engine starts. */
  goOn(): void;
  /** Gives the port free. */
  close(): Promise<void>;
}

interface Token {
  /** That of the page. */
  readonly token: string | null;
}

export function createWaitingPage(): WaitingPage {
  let trouble: PatchbayError | null = null;
  let opening: Promise<RunningPage | null> | null = null;
  return {
    wait: (met, at) => {
      trouble = met;
      // Of any free port none is known to those who would ask.
      // A port that cannot be opened is reported when the page itself opens there.
      if (at.port !== 0) opening ??= openPage(createWaitingApp(at, () => trouble).fetch, at).catch(() => null);
    },
    goOn: () => {
      trouble = null;
    },
    close: async () => {
      await (await opening)?.close();
      opening = null;
    },
  };
}

const starting = { code: 'starting', message: 'Patchbay is starting', hint: 'Ask again in a moment.' } as const;
const againSeconds = 5;

/** The app, without a port. @param troubleNow what is waited for; null: the engine is starting. */
export function createWaitingApp({ token }: Token, troubleNow: () => PatchbayError | null): Hono {
  const app = new Hono();
  const refusal = (code: string, message: string) => ({ error: { code, message, hint: null } });
  const why = (): { readonly code: string; readonly message: string; readonly hint: string } => {
    const trouble = troubleNow();
    if (trouble === null) return starting;
    const { code, plainMessage: message } = trouble;
    return { code, message, hint: failureMessage(trouble)?.hint ?? starting.hint };
  };
  app.use(async (c, next) => {
    if (token !== null || isLoopbackHost(c.req.header('host'))) return await next();
    return c.json(refusal('foreignHost', 'this address answers this machine only'), 403);
  });
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', (c) => c.json({ ready: false, degraded: false, reasons: [why().message] }, 503));
  app.get('*', (c) => {
    const { code, message, hint } = why();
    c.header('retry-after', `${againSeconds}`);
    c.header('vary', 'Accept');
    return wantsJson(c) ? c.json({ error: { code, message, hint } }, 503) : c.text(`${message}\n${hint}\n`, 503);
  });
  refuseOtherMethods(app, (c) => c.json(refusal(otherMethod.code, otherMethod.message), otherMethod.status));
  return app;
}
