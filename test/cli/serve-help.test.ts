/** `patchbay serve --help` names the faults by hand, so that it need not load the service: held against the catalog. */
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { buildProgram } from '#src/cli/program.ts';
import { defaultPatchMode } from '#src/service/contacts/contact-changes.ts';
import { allReservedSources } from '#src/service/contacts/reserved-sources.ts';
import { faultKinds } from '#src/service/faults/faults.ts';
import { errorDocsValues } from '#src/service/http/replies.ts';
import { operationNames } from '#src/service/operations/operation.ts';

const serve = buildProgram().commands.find((command: Command) => command.name() === 'serve');

function serveHelp(): string {
  let text = '';
  serve?.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

test('the help of serve names every operation and every fault', () => {
  const help = serveHelp();
  expect(/operations +(.*), or/.exec(help)?.[1]?.split(' ')).toEqual(operationNames);
  const named = [...(/faults +([\s\S]*)$/.exec(help)?.[1]?.matchAll(/[a-z]+[A-Za-z]*(?=[\s=[]|$)/g) ?? [])].map(
    ([name]) => name,
  );
  expect(named.filter((name) => name !== 'retryAfter').toSorted()).toEqual(Object.keys(faultKinds).toSorted());
});

test('--error-docs takes every value that the service can answer', () => {
  const option = serve?.options.find(({ long }) => long === '--error-docs');
  expect(option?.argChoices).toEqual(errorDocsValues);
  expect(option?.description).toContain(`default: ${errorDocsValues[0]}`);
});

test('--reserved-source names what it replaces', () => {
  const option = serve?.options.find(({ long }) => long === '--reserved-source');
  const always = allReservedSources({ words: [], prefixes: [] });
  const byDefault = allReservedSources();
  const prefixes = byDefault.prefixes.filter((one) => !always.prefixes.includes(one));
  const words = byDefault.words.filter((one) => !always.words.includes(one) && !prefixes.includes(one));
  expect(option?.description).toContain(
    `instead of ${[...prefixes.map((one) => `${one}*`), ...words].join(', ').replace(/, ([^,]*)$/, ' and $1')};`,
  );
});

test('--patch says what PATCH does without it', () => {
  const option = serve?.options.find(({ long }) => long === '--patch');
  expect(defaultPatchMode).toBe('replace');
  expect(option?.description).toContain(`default: ${defaultPatchMode}`);
});
