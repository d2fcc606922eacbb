/** `serve --reserved-source` as a process: what it takes, and what it says cannot be meant. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { person } from '#test/service/test-service.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { startPatchbay } from '#test/support/patchbay-process.ts';

test('`serve --reserved-source` takes them, and says which cannot be meant', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'service-reserved-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const environment = { PATCHBAY_DATA: folder };
  const wordsWith = (...reserved: string[]) => [
    ...['serve', '--json', '--port', '0', '--key', 'one'],
    ...reserved.flatMap((one) => ['--reserved-source', one]),
  ];
  const wrong = await callPatchbay(wordsWith('*'), environment);
  expect([wrong.code, wrong.documents[0].error.code]).toEqual([2, 'reservedSourceMalformed']);

  const started = startPatchbay(wordsWith('partner', 'crm*'), environment);
  onTestFinished(() => started.kill());
  const { origin } = JSON.parse(await started.firstLine());
  const status = async (source: string) => {
    const headers = { authorization: 'one', 'content-type': 'application/json' };
    const body = JSON.stringify(person(null, { source }));
    return (await fetch(`${origin}/v1/contacts`, { method: 'POST', headers, body })).status;
  };
  expect(await Promise.all(['partner', 'crm-2', 'csv', 'zapier'].map(status))).toEqual([400, 400, 400, 201]);
});
