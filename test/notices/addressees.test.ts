/** Notices to several addressees: Slack, Teams and e-mail beside the webhook, each with its own tries and its own end. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { configSchema } from '#src/config/schema.ts';
import type { NewDelivery } from '#src/ledger/deliveries.ts';
import { createLogger } from '#src/log.ts';
import { addressedTo, addresseesOf } from '#src/notices/addressees.ts';
import { openNotices } from '#src/notices/deliver.ts';
import { openForTest } from '#test/contracts/support/opened-ledger.ts';
import { openTempLedger, tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { movedClock } from '#test/upsert/support/moved-clock.ts';
import { startMailReceiver } from './support/mail-receiver.ts';
import { isSigned, startReceiver } from './support/webhook-receiver.ts';

const secret = 'a-secret-of-more-than-sixteen-characters';
const sentence = 'Patchbay (berlin): crm needs attention: 3 rows were rejected in run r-1.';
const link = 'https://patchbay.example.com/runs/r-1';
const notice: NewDelivery = {
  id: 'n1',
  kind: 'notice',
  type: 'feed.bad',
  feed: 'crm',
  data: {
    troubles: ['deadRows'],
    badSince: '2026-11-21T00:00:00.000Z',
    began: [{ trouble: 'deadRows', run: 'r-1', code: null, dead: 3 }],
  },
  atMs: Date.UTC(2026, 10, 21),
};

/** `notify` as it is written in the configuration. One notice is entered, for each addressee. */
async function openBench(written: object, told = notice) {
  const { notify } = configSchema.parse({ notify: written });
  const { ledger } = await openForTest(openTempLedger);
  const clock = movedClock();
  const lines: string[] = [];
  const log = createLogger({ level: 'debug', stream: { write: (line: string) => void lines.push(line) } });
  const about = {
    workspace: 'https://api.example.com',
    installation: 'berlin',
    pageAddress: 'https://patchbay.example.com',
  };
  const notices = openNotices({ ledger, clock, log, random: () => 0, notify, ...about });
  onTestFinished(() => notices.close());
  const deliveries = addressedTo(addresseesOf(notify), told);
  await ledger.deliveries.setCondition({ feed: 'crm', troubles: ['deadRows'], sinceMs: 0 }, deliveries);
  const dueIds = async () => (await ledger.deliveries.nextDue(await ledger.nowMs(clock), 99)).map(({ id }) => id);
  const deliver = async (): Promise<void> => {
    for (const id of await dueIds()) await notices.deliver(id, new AbortController().signal);
  };
  /** `addressee state attempts code` of each. */
  const standings = async () =>
    Promise.all(
      deliveries.map(async ({ id, feed }) => {
        const found = await ledger.deliveries.get(id);
        return `${feed} ${found?.state} ${found?.attempts} ${found?.code}`;
      }),
    );
  return {
    ledger,
    clock,
    lines,
    deliver,
    standings,
    messageOf: async (id: string) => (await ledger.deliveries.get(id))?.message,
  };
}

describe('A notice', () => {
  it('reaches all that are configured: signed data for the webhook, a sentence with a link for people', async () => {
    const [webhook, slack, teams] = [await startReceiver(), await startReceiver([200]), await startReceiver([202])];
    const mail = await startMailReceiver();
    const bench = await openBench({
      ...{ url: webhook.url, secret, slack: { url: slack.url }, teams: { url: teams.url } },
      mail: { server: mail.url, from: 'patchbay@example.com', to: ['it@example.com', 'crm@example.com'] },
    });
    await bench.deliver();
    expect(await bench.standings()).toEqual(
      ['crm', 'crm@slack', 'crm@teams', 'crm@mail'].map((one) => `${one} delivered 1 null`),
    );
    const [posted] = webhook.received;
    expect(posted && (await isSigned(posted, new TextEncoder().encode(secret)))).toBe(true);
    expect(JSON.parse(posted?.body ?? '')).toMatchObject({ id: 'n1', feed: 'crm', installation: 'berlin' });
    expect(JSON.parse(slack.received[0]?.body ?? '')).toEqual({ text: `${sentence} <${link}|Open in Patchbay>` });
    expect(teams.received[0]?.body).toContain(link);
    for (const { received } of [slack, teams]) expect(received[0]?.headers['webhook-signature']).toBeUndefined();
    expect(mail.received).toMatchObject([
      { from: 'patchbay@example.com', to: ['it@example.com', 'crm@example.com'], user: null },
    ]);
    const raw = mail.received[0]?.raw.replaceAll('\r\n', '\n') ?? '';
    expect(raw.replaceAll('\n ', ' ')).toContain(`Subject: ${sentence}`);
    expect(raw).toContain(`\n${link}\n`);
    expect(raw).toContain('Workspace: https://api.example.com');
  });

  it('about a schedule that failed says to people what happened and what to do; the subject of the e-mail stays short', async () => {
    const mail = await startMailReceiver();
    const why = {
      message: 'files.example.com answered 404: the file does not exist',
      hint: 'Check the URL of the feed.',
    };
    const began = [{ trouble: 'failed', run: null, code: 'urlNotFound', dead: null, ...why }];
    const to = { server: mail.url, from: 'patchbay@example.com', to: ['it@example.com'] };
    const bench = await openBench({ mail: to }, { ...notice, data: { ...notice.data, began } });
    await bench.deliver();
    const raw = mail.received[0]?.raw.replaceAll('\r\n', '\n') ?? '';
    const short = 'Patchbay (berlin): crm needs attention: its schedule failed (urlNotFound).';
    expect(raw.replaceAll('\n ', ' ')).toContain(`Subject: ${short}\n`);
    expect(raw.replaceAll('=\n', '')).toContain(
      `${short}\nWhat happened: ${why.message}.\nWhat to do: ${why.hint}\n\nhttps://patchbay.example.com/feeds\n`,
    );
  });

  it('waits for one addressee while the others have it, and arrives when that one is back', async () => {
    const [webhook, slack] = [await startReceiver(), await startReceiver([503, 200])];
    const bench = await openBench({ url: webhook.url, secret, slack: { url: slack.url } });
    await bench.deliver();
    expect(await bench.standings()).toEqual(['crm delivered 1 null', 'crm@slack waiting 1 slackFailed']);
    bench.clock.advance(60_000);
    await bench.deliver();
    expect(await bench.standings()).toEqual(['crm delivered 1 null', 'crm@slack delivered 2 null']);
    expect(webhook.received).toHaveLength(1);
    expect(bench.lines.join('')).toContain('Slack accepts deliveries again');
  });

  it('is given up for an addressee that is gone, or that is not configured any more', async () => {
    const [slack, webhook] = [await startReceiver([410]), await startReceiver()];
    const bench = await openBench({ slack: { url: slack.url } });
    await bench.deliver();
    expect(await bench.standings()).toEqual(['crm@slack dead 1 slackGone']);
    const left = await openBench({ url: webhook.url, secret });
    const orphan = addressedTo(['teams'], { ...notice, id: 'n2' });
    await left.ledger.deliveries.setCondition({ feed: 'crm', troubles: [], sinceMs: 0 }, orphan);
    await left.deliver();
    expect(await left.ledger.deliveries.get('n2')).toMatchObject({ state: 'dead', code: 'noAddressee' });
  });
});

describe('An e-mail', () => {
  const to = { from: 'patchbay@example.com', to: ['it@example.com'] };

  it('is sent by a user with a password, which is taken from its file anew each time', async () => {
    const passwordFile = join(tempFolder(), 'password');
    writeFileSync(passwordFile, 'wrong\n', { mode: 0o600 });
    const mail = await startMailReceiver({
      authOptional: false,
      onAuth: ({ username, password }, _session, done) => {
        if (password === 'right-password') done(null, { user: username ?? '' });
        else done(new Error(`no such password: ${password}`));
      },
    });
    const bench = await openBench({ mail: { server: mail.url, ...to, user: 'alerts', passwordFile } });
    await bench.deliver();
    expect(await bench.standings()).toEqual(['crm@mail waiting 1 mailFailed']);
    expect(await bench.messageOf('n1')).toMatch(
      /^the mail server did not take the e-mail: it failed with 535 \(EAUTH\)$/,
    );
    writeFileSync(passwordFile, 'right-password\n');
    bench.clock.advance(60_000);
    await bench.deliver();
    expect(mail.received).toMatchObject([{ user: 'alerts' }]);
    chmodSync(passwordFile, 0o644);
  });

  it('that is refused is tried again, and no address or answer of the server is kept or logged', async () => {
    const mail = await startMailReceiver({ refuse: 552 });
    const bench = await openBench({ mail: { server: mail.url, ...to } });
    await bench.deliver();
    expect(await bench.standings()).toEqual(['crm@mail waiting 1 mailFailed']);
    const kept = `${await bench.messageOf('n1')} ${bench.lines.join('')}`;
    for (const word of ['it@example.com', 'patchbay@example.com', 'no room']) expect(kept).not.toContain(word);
  });

  it('keeps its id, so that a mailbox knows a repetition', async () => {
    const mail = await startMailReceiver();
    const bench = await openBench({ mail: { server: mail.url, ...to } });
    await bench.deliver();
    expect(mail.received[0]?.raw).toContain('Message-ID: <n1@patchbay.invalid>');
  });

  it('waits while the server is away', async () => {
    const bench = await openBench({ mail: { server: 'smtp://127.0.0.1:9', ...to } });
    await bench.deliver();
    expect(await bench.standings()).toEqual(['crm@mail waiting 1 mailFailed']);
    expect(bench.lines.join('')).toContain('the mail server does not accept deliveries');
  });
});
