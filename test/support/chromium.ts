/** The browser of the tests: Debian's Chromium. Where there is none, its tests are skipped with `chromiumMissing` in their name. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

export const hasChromium = executablePath !== undefined;
export const chromiumMissing = hasChromium ? '' : ' (skipped: no Chromium in /usr/bin)';

/** Without what it would ask other machines for. Whoever launches, closes. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}
