/** The page of the public description as people see it: in a real browser, where there is one. */

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { chromiumMissing, hasChromium, launchChromium } from '#test/support/chromium.ts';
import { person, startTestService, type TestService, testKey } from '../test-service.ts';

describe.skipIf(!hasChromium)(`the page of the description in a browser${chromiumMissing}`, () => {
  let browser: Browser | null = null;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  /** The page of a service with one contact; its requests and what the browser complains about are collected. */
  async function openPage() {
    if (browser === null) throw new Error('the browser is there');
    const service: TestService = await startTestService();
    await service.call('POST', '/v1/contacts', person('crm-1001'));
    const page: Page = await browser.newPage({ viewport: { width: 1_200, height: 1_000 } });
    onTestFinished(() => page.close());
    const complaints: string[] = [];
    const origins = new Set<string>();
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
    });
    await page.goto(`${service.origin}/docs`);
    await page.locator('#operations-Contacts-listContacts').waitFor();
    return { page, service, complaints, origins };
  }

  it('shows every operation and lists contacts with the key, without a word to anybody else', async () => {
    const { page, service, complaints, origins } = await openPage();
    const described = (await (await fetch(`${service.origin}/openapi.json`)).json()) as { paths: object };
    const operationCount = Object.values(described.paths).flatMap((methods) => Object.keys(methods)).length;
    expect(await page.locator('.opblock').count()).toBe(operationCount);

    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.locator('.modal-ux input').fill(testKey);
    await page.locator('.modal-ux').getByRole('button', { name: 'Apply credentials' }).click();
    await page.locator('.modal-ux .btn-done').click();

    const list = page.locator('#operations-Contacts-listContacts');
    await list.locator('.opblock-summary-control').click();
    await list.getByRole('button', { name: 'Execute' }).click();
    const live = list.locator('.live-responses-table');
    await live.waitFor();
    expect(await live.locator('tbody .response-col_status').first().innerText()).toContain('200');
    expect(await live.innerText()).toContain('crm-1001');

    expect([...origins]).toEqual([service.origin]);
    expect(complaints).toEqual([]);
  });

  it('is dark where the system is, and light again', async () => {
    const { page } = await openPage();
    const isDark = () => page.evaluate("document.documentElement.classList.contains('dark-mode')");
    expect(await isDark()).toBe(false);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(isDark).toBe(colorScheme === 'dark');
    }
  });
});
