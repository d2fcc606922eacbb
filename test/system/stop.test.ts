/**
 * A stop while the service does not answer: reads are cut at once, whatever they are for. The order of events shows it: a read
 * that is waited for would be sent again after its time-out.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import { type Journey, test } from '#test/support/journey.ts';
import type { JourneyService } from '#test/support/journey-service.ts';
import { peopleCsv } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

interface Silent {
  readonly origin: string;
  /** Requests that are not answered. */
  readonly heldCount: () => number;
  /** From now on no request is answered. */
  readonly answerNoMore: () => void;
}

/** Stands before the service and never answers requests for that path, once the first `answered` of them had their answers. */
async function silentFor(
  service: Pick<JourneyService, 'origin'> | null,
  { path, answered = 0 }: { readonly path: RegExp; readonly answered?: number },
): Promise<Silent> {
  let asked = 0;
  let held = 0;
  let isSilent = service === null;
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '', headers } = request;
    if (method === 'GET' && path.test(url)) asked += 1;
    if (service === null || isSilent || (method === 'GET' && path.test(url) && asked > answered)) {
      held += 1;
      return;
    }
    const { authorization = '' } = headers;
    const body = method === 'GET' ? {} : { body: await textOf(request) };
    const reply = await fetch(`${service.origin}${url}`, {
      ...{ method, ...body, headers: { authorization, 'content-type': 'application/json' } },
    });
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const answerNoMore = (): void => {
    isSilent = true;
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heldCount: () => held, answerNoMore };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece;
  return text;
}

/** Starts the command, and sends the signal once a request is held. @returns its end, and how many requests were held. */
async function stopped(
  journey: Journey,
  silent: Silent,
  args: readonly string[],
  signal: 'SIGINT' | 'SIGTERM',
  env: Readonly<Record<string, string>> = {},
) {
  const command = journey.start(args, env);
  await until(`a request that is not answered\n${command.stderr}`, () => silent.heldCount() > 0);
  command.signal(signal);
  const { code, documents, stderr } = await command.ended();
  return { code, documents, stderr, heldCount: silent.heldCount() };
}

const phoneNumbers = /^\/v1\/phone-numbers/;
const contacts = /^\/v1\/contacts\?/;
const lookUp = /externalIds=(?!patchbay-probe)/;
const wholeList = /^\/v1\/contacts\?(?!.*externalIds)/;
const customFields = /^\/v1\/contact-custom-fields/;

describe('a service that does not answer is not waited for by', () => {
  for (const [what, path, answered, args] of [
    ['the check of the workspace', phoneNumbers, 0, ['numbers', 'snapshot']],
    ['the check of its filter', contacts, 0, ['import', 'FILE']],
    ['a snapshot', phoneNumbers, 1, ['numbers', 'snapshot']],
    ['a snapshot of a user', phoneNumbers, 1, ['numbers', 'snapshot', '--user', 'USwhoever']],
    ['the reading of a file', customFields, 0, ['import', 'FILE']],
    ['the look through the workspace', wholeList, 0, ['import', 'FILE']],
    ['an import', lookUp, 0, ['import', 'FILE']],
    ['an audit', lookUp, 1, ['import', '--audit', 'FILE']],
    ['a plan', phoneNumbers, 0, ['plan', 'FILE']],
    ['a plan that compares', lookUp, 0, ['plan', 'FILE']],
  ] as const) {
    test(`${what}: ${args[0]}`, async ({ journey }) => {
      const service = await journey.service();
      const silent = await silentFor(service, { path, answered });
      const csv = path === customFields ? 'externalId,custom.level\np-1,3\n' : peopleCsv(3);
      const file = journey.file('people.csv', csv);
      const words = args.map((word) => (word === 'FILE' ? file : word));
      const end = await stopped(journey, silent, words, 'SIGINT', { PATCHBAY_BASE_URL: silent.origin });
      expect(end, end.stderr).toMatchObject({ code: 130, heldCount: 1 });
      if (path === contacts || path === customFields || path === wholeList)
        expect(end.stderr).toContain('people.csv: interrupted before its file was read to the end; run the same');
    });
  }

  test('the start of an engine', async ({ journey }) => {
    const silent = await silentFor(await journey.service(), { path: phoneNumbers });
    const end = await stopped(journey, silent, ['start', '--json'], 'SIGTERM', { PATCHBAY_BASE_URL: silent.origin });
    expect(end, end.stderr).toMatchObject({ code: 143, heldCount: 1 });
    expect(end.documents).toMatchObject([{ error: { code: 'interrupted' }, exitCode: 143 }]);
  });

  test('an engine that waits for the service and asks it', async ({ journey }) => {
    const service = await journey.service(['*:status=503']);
    const silent = await silentFor(service, { path: /./, answered: Number.POSITIVE_INFINITY });
    const engine = journey.start(['start'], { PATCHBAY_BASE_URL: silent.origin });
    await engine.firstLine();
    silent.answerNoMore();
    await until('a request that is not answered', () => silent.heldCount() > 0);
    engine.signal('SIGTERM');
    const { code, stderr } = await engine.ended();
    expect(code, stderr).toBe(143);
    expect(silent.heldCount()).toBe(1);
  });

  test('a download', async ({ journey }) => {
    const silent = await silentFor(null, { path: /export/ });
    const config = journey.file(
      'patchbay.yaml',
      `feeds: {crm: {take: "${silent.origin}/export.csv", every: 1h}}\ndownload: {privateAddresses: true}\n`,
    );
    const words = ['schedule', 'run', 'crm', '--sandbox', '--config', config];
    const end = await stopped(journey, silent, words, 'SIGTERM');
    expect(end, end.stderr).toMatchObject({ code: 143, heldCount: 1 });
  });
});
