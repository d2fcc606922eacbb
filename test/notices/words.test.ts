/** Notices as sentences for people, and the page that each leads to. */
import { describe, expect, it } from 'vitest';
import { detailsOf, linkOf, type Notice, sentenceOf, slackBody, teamsBody } from '#src/notices/words.ts';

const bad = (...began: readonly object[]): Notice => ({
  type: 'feed.bad',
  feed: 'crm',
  data: { troubles: [], badSince: '2026-11-21T00:00:00.000Z', began },
});
const none = { run: null, code: null, dead: null };
const rejected = { ...none, trouble: 'deadRows', run: 'r-1', dead: 3 };

describe('A notice says in one sentence', () => {
  it.each<[Notice, string]>([
    [bad(rejected), 'crm needs attention: 3 rows were rejected in run r-1'],
    [bad({ ...rejected, dead: 1 }), 'crm needs attention: 1 row was rejected in run r-1'],
    [
      bad({ ...none, trouble: 'guard', run: 'r-1', code: 'guardUpdates' }),
      'crm needs attention: run r-1 was stopped by a guard (guardUpdates) and waits for a decision',
    ],
    [
      bad({ ...none, trouble: 'failed', run: 'r-1', code: 'csvMalformed' }),
      'crm needs attention: the file of run r-1 could not be read (csvMalformed)',
    ],
    [bad({ ...none, trouble: 'failed', code: 'notFound' }), 'crm needs attention: its schedule failed (notFound)'],
    [
      bad({ ...none, trouble: 'outage', code: 'keyRefused' }),
      'crm needs attention: work waits for the service or its key (keyRefused)',
    ],
    [
      bad({ ...none, trouble: 'outage', code: 'queueFull' }),
      'crm needs attention: work waits for the queue (queueFull)',
    ],
    [
      bad({ ...none, trouble: 'missed' }, rejected),
      'crm needs attention: no new export has come within the expected time; 3 rows were rejected in run r-1',
    ],
    [
      { ...bad(), type: 'feed.recovered', data: { ended: ['missed', 'guard'], badSince: '2026-11-21T08:30:00.000Z' } },
      'crm is healthy again; before, from 2026-11-21T08:30Z on: no new export, stopped by a guard',
    ],
    [
      {
        ...bad(),
        type: 'feed.recovered',
        data: { ended: ['missed'], badSince: '2026-11-21T08:30:00.000Z', unwatched: true },
      },
      'crm is no longer watched for this: it was removed from the configuration; before, from 2026-11-21T08:30Z on: no new export',
    ],
    [
      {
        ...bad(),
        type: 'feed.recovered',
        data: { ended: ['guard'], badSince: '2026-11-21T08:30:00.000Z', cancelled: true },
      },
      'crm is back to its state before the stopped run, which was cancelled; no decision is pending; before, from 2026-11-21T08:30Z on: stopped by a guard',
    ],
    [
      { type: 'phoneNumbers.changed', feed: 'phone-numbers', data: { added: 2, removed: 0, changedNumbers: 1 } },
      'phone numbers changed: 2 added, 0 removed, 1 changed',
    ],
    [{ type: 'feed.other', feed: 'crm', data: {} }, 'feed.other of crm'],
  ])('%j', (notice, words) => {
    expect(sentenceOf(notice, null)).toBe(`Patchbay: ${words}.`);
    expect(sentenceOf(notice, 'berlin')).toBe(`Patchbay (berlin): ${words}.`);
  });
});

describe('Behind the sentence', () => {
  it('stands what happened and what to do, where the notice says so', () => {
    const failed = { ...none, trouble: 'failed', code: 'urlNotFound' };
    const why = { message: 'files.example.com answered 404', hint: 'Check the URL.\nThen type: patchbay status' };
    expect(detailsOf(bad({ ...failed, ...why }))).toEqual([
      'What happened: files.example.com answered 404.',
      'What to do: Check the URL. Then type: patchbay status',
    ]);
    expect(detailsOf(bad({ ...failed, message: null, hint: 'Check the URL.' }, rejected))).toEqual([
      'What to do: Check the URL.',
    ]);
    expect(detailsOf(bad(failed))).toEqual([]);
  });
});

describe('Its link', () => {
  it('leads to the run, or to the feeds; and there is none without an address', () => {
    const address = 'https://patchbay.example.com';
    expect(linkOf(bad({ ...none, trouble: 'missed' }, rejected), address)).toBe(`${address}/runs/r-1`);
    expect(linkOf(bad({ ...none, trouble: 'missed' }), address)).toBe(`${address}/feeds`);
    expect(linkOf(bad(rejected), null)).toBeNull();
  });
});

describe('The body', () => {
  it('for Slack is a text with a link, in which no sign of the feed becomes markup', () => {
    expect(JSON.parse(slackBody('a <b> & c.', 'https://p/runs/1'))).toEqual({
      text: 'a &lt;b&gt; &amp; c. <https://p/runs/1|Open in Patchbay>',
    });
    expect(JSON.parse(slackBody('a.', null))).toEqual({ text: 'a.' });
    expect(JSON.parse(slackBody('a.', 'https://p/feeds', ['b & c.']))).toEqual({
      text: 'a.\nb &amp; c. <https://p/feeds|Open in Patchbay>',
    });
  });

  it('for Teams is an adaptive card with a button', () => {
    const { type, attachments } = JSON.parse(teamsBody('my_feed needs attention.', 'https://p/feeds'));
    expect(type).toBe('message');
    expect(attachments).toMatchObject([
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          body: [{ type: 'TextBlock', text: 'my\\_feed needs attention.', wrap: true }],
          actions: [{ type: 'Action.OpenUrl', url: 'https://p/feeds' }],
        },
      },
    ]);
    expect(JSON.parse(teamsBody('a.', null)).attachments[0].content.actions).toEqual([]);
    const { body } = JSON.parse(teamsBody('a.', null, ['b_c.'])).attachments[0].content;
    expect(body).toMatchObject([{ text: 'a.' }, { text: 'b\\_c.' }]);
  });
});
