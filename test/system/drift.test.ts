/** `--verify` and `--repair`, as a user types them, with what people changed in the app meanwhile. */
import { dirname } from 'node:path';
import { expect } from 'vitest';
import { readDocument } from '#test/docs/support/read-document.ts';
import { fits, inToday, type Names, stepsOf, tidyOutput } from '#test/docs/support/session.ts';
import { test } from '#test/support/journey.ts';

test('prints what docs/operations.md shows of drift', async ({ journey }) => {
  const text = readDocument('docs/operations.md');
  const [, shown = ''] = /## Find and undo edits [^\n]*\n[^`]*(?:`[^`]+`[^`]*)*```text\n([^`]*)```/.exec(text) ?? [];
  const steps = stepsOf(`\`\`\`sh\n${shown}\`\`\``);
  expect(steps.map(({ command }) => /--(?:verify|repair)/.exec(command)?.[0])).toEqual(['--verify', '--repair']);
  const service = await journey.service();
  const path = journey.file('contacts.csv', readDocument('config/samples/contacts.csv'));
  await journey.call(['import', '--feed', 'club', path]);

  const ask = async (way: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: service.key, 'content-type': 'application/json' };
    const reply = await fetch(`${service.origin}/v1/contacts${way}`, { ...init, headers });
    expect(reply.ok).toBe(true);
    return reply;
  };
  const found = async (key: string) => {
    const { data } = (await (await ask(`?externalIds=${key}&maxResults=2`)).json()) as {
      readonly data: readonly [{ readonly id: string; readonly defaultFields: object }];
    };
    return data[0];
  };
  await ask(`/${(await found('demo-002')).id}`, { method: 'DELETE' });
  const nurse = await found('demo-010');
  const defaultFields = { ...nurse.defaultFields, role: 'Head nurse' };
  await ask(`/${nurse.id}`, { method: 'PATCH', body: JSON.stringify({ defaultFields }) });

  const names: Names = new Map();
  const codes: (number | null)[] = [];
  for (const { command, expected } of steps) {
    const words = inToday(command, names).replace('contacts.csv', path).split(' ').slice(1);
    const { code, stdout } = await journey.call(words);
    codes.push(code);
    const lines = tidyOutput(stdout.replace(service.origin, 'http://127.0.0.1:43045'), dirname(path));
    const wanted = expected.filter((line) => line !== '');
    if (!fits(wanted, lines, names)) expect(lines).toEqual(wanted);
  }
  expect(codes).toEqual([10, 0]);
});
