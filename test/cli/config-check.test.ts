/** `patchbay config check`: what it calls right, a start takes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkConfig } from '#src/cli/commands/config.ts';
import { homeOpener, loadCliConfig, openToCheck } from '#src/cli/open-home.ts';
import { captureOutput } from './support/captured-output.ts';

test('config check says so where the mapping of a feed is not there or broken', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pb-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, 'patchbay.yaml');
  const check = (mapping: string): Promise<number> => {
    writeFileSync(config, `feeds:\n  crm: { mapping: ${mapping} }\n`);
    return checkConfig({ config, data: folder });
  };
  const captured = captureOutput();
  const problem = (sentence: string) => ({
    ...{
      kind: 'usage',
      code: 'configInvalid',
      message: expect.stringContaining(`:2:19: feeds.crm.mapping: ${sentence}`),
    },
  });
  await expect(check('no-such')).rejects.toMatchObject(
    problem('there is no mapping "no-such" (name a YAML file, or one of: '),
  );
  await expect(check('hubspt')).rejects.toMatchObject(
    problem('there is no mapping "hubspt" (did you mean "hubspot"?)'),
  );
  await expect(check('./none.yaml')).rejects.toMatchObject(problem(`there is no file ${join(folder, 'none.yaml')}`));
  writeFileSync(join(folder, 'crm.yaml'), 'nonsense: 1\n');
  await expect(check('./crm.yaml')).rejects.toMatchObject({ kind: 'usage', code: 'mappingInvalid' });
  expect(await check('example-crm')).toBe(0);
  expect(captured.stdout()).toContain('configuration OK');
});

test('a service over plain http is told of by config check, by start and by doctor, and not for the sandbox', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pb-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, 'patchbay.yaml');
  writeFileSync(config, 'service: { baseUrl: "http://api.example.com" }\n');
  const captured = captureOutput();
  const options = { config, data: folder };
  await loadCliConfig(options);
  await homeOpener(options, 'look');
  await checkConfig({ ...options, sandbox: true });
  await homeOpener({ ...options, sandbox: true }, 'start');
  expect(captured.stderr()).toBe('');
  await homeOpener(options, 'start');
  await checkConfig(options);
  const { ledger } = await openToCheck(options);
  if ('close' in ledger) await ledger.close();
  expect(captured.stderr().match(/over http/g)).toHaveLength(3);
});

test('what a feed lacks at its first take is told by config check and by start, also for the sandbox', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pb-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, 'patchbay.yaml');
  writeFileSync(config, 'feeds: { crm: { take: "https://files.example.com/x", authorization: NOT_SET_HERE } }\n');
  const captured = captureOutput();
  const options = { config, data: folder, sandbox: true };
  await loadCliConfig(options);
  await homeOpener(options, 'show');
  expect(captured.stderr()).toBe('');
  await homeOpener(options, 'start');
  expect(await checkConfig(options)).toBe(0);
  expect(captured.stderr().match(/the variable NOT_SET_HERE is not set here/g)).toHaveLength(2);
});
