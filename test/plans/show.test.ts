/** How a plan is shown: grouped and cut, the summary last; as one file in which nothing of the plan is markup. */
import { describe, expect, it } from 'vitest';
import { createOutput } from '#src/cli/output.ts';
import { planLines, presentPlan } from '#src/cli/present-plan.ts';
import type { PlannedContact } from '#src/contacts/planned.ts';
import { jsonPieces, printableJson } from '#src/json/json-pieces.ts';
import { noOptions } from '#src/ledger/runs.ts';
import { exitCodeOfPlan, planDocument } from '#src/operations/plan.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import { noGroups, withContact } from '#src/plans/plan-totals.ts';
import { htmlListMax, planHtml, planMarkdown } from '#src/plans/show/plan-files.ts';
import { planView } from '#src/plans/show/plan-view.ts';
import { readAgain, textOf } from './support/read-plan.ts';

const verifyOptions = { ...noOptions, verify: true };
const evil = '<script>alert("x")</script> | `a` [b](http://c) \u001b[31m\u202e';

function contact(key: string, parts: Partial<PlannedContact> = {}): PlannedContact {
  const nothing = { name: null, contactId: 'c1', changes: [], held: [], notes: [], digest: '' };
  return { key, line: 2, deed: 'update', ...nothing, ...parts };
}

const create = (key: string) =>
  contact(key, { deed: 'create', name: 'Ann', changes: [{ field: 'firstName', from: null, to: 'Ann', why: 'added' }] });

function made(contacts: readonly PlannedContact[]): MadePlan {
  const rows = { rows: 9, created: 2, updated: 3, unchanged: 3, skipped: 0, dead: 1 };
  const values = { linked: 0, deleted: 0, added: 2, changed: 1, cleared: 0, removed: 1, relabelled: 0, heldFields: 1 };
  return {
    plan: {
      ...{
        id: '20261121T140000Z-1a2b3c',
        feed: 'crm',
        runId: null,
        undoes: null,
        fileName: 'a.csv',
        sha256: 's',
        path: '/a.csv',
      },
      ...{ service: 'https://api.example.com', mappingNamed: null, stop: null, checksum: 'sum', createdAtMs: 0 },
      reading: {
        mapping: null,
        sourceLabel: null,
        options: noOptions,
        defaults: { defaultCountry: null, onBlank: 'keep' },
      },
      totals: { rows, ...values, requests: { get: 1_000, post: 2, patch: 3, delete: 0 }, seconds: 126 },
    },
    ...{
      isKept: true,
      contacts: readAgain(contacts),
      contactCount: contacts.length,
      groupCounts: contacts.reduce(withContact, noGroups),
      outcomes: [],
      areOutcomesAll: true,
      notes: [],
      drift: null,
      missing: null,
      unsure: 0,
      unread: 0,
      sent: { get: 3 },
    },
    problems: readAgain([{ line: 7, code: 'phoneLetters', field: 'phone', value: evil, hint: 'Write digits.' }]),
    problemCount: 1,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

const some = made([
  create('c-1'),
  create('c-2'),
  contact('c-3', { changes: [{ field: 'role', from: 'Buyer', to: evil, why: 'changed' }] }),
  contact('c-4', { changes: [{ field: 'phone.+14155550101', from: '+14155550101', to: null, why: 'removed' }] }),
  contact('c-5', { deed: 'none', held: [{ field: 'company', said: 'A', theirs: 'B', ours: 'C' }] }),
]);

describe('a plan on a terminal', () => {
  it('of an undo names both values of what changed since, also where both are blank, and none without values', async () => {
    const blank = contact('c-6', { deed: 'none', held: [{ field: 'role', said: 'Lead', theirs: null, ours: null }] });
    const { plan, ...rest } = made([blank]);
    const undoing: MadePlan = { ...rest, plan: { ...plan, undoes: 'r-1' } };
    const linesOf = (values: boolean) =>
      presentPlan(createOutput({ color: false, values }), undoing, { limit: 5, values });
    expect((await linesOf(true)).split('\n')).toContain('      ! role: – now, – before the run');
    expect((await linesOf(false)).split('\n')).toContain('      ! role');
  });

  it('of contacts that are adopted as they are does not say that they are updated', async () => {
    const { totals } = some.plan;
    const lineOf = async (patch: number) => {
      const plan = { ...some.plan, totals: { ...totals, requests: { ...totals.requests, patch } } };
      const text = await presentPlan(createOutput({ color: false }), { ...some, plan }, { limit: 1, values: true });
      return text.split('\n').find((line) => line.startsWith('  9 rows'));
    };
    expect(await lineOf(1)).toBe('  9 rows: 2 to create, 1 to update, 2 to adopt as they are, 3 unchanged, 1 rejected');
    expect(await lineOf(0)).toBe('  9 rows: 2 to create, 3 to adopt as they are, 3 unchanged, 1 rejected');
  });

  it('of an undo does not say that contacts which it deletes are adopted', async () => {
    const { totals } = some.plan;
    const requests = { ...totals.requests, post: 0, patch: 1, delete: 2 };
    const plan = { ...some.plan, undoes: 'r-1', totals: { ...totals, deleted: 2, requests } };
    const text = await presentPlan(createOutput({ color: false }), { ...some, plan }, { limit: 1, values: true });
    const line = text.split('\n').find((one) => one.startsWith('  9 rows'));
    expect(line).toBe('  9 rows: 2 to make again, 1 to update, 2 to delete, 3 unchanged, 1 rejected');
  });

  it('groups what is done, cuts each group, and ends with the summary', async () => {
    const text = await presentPlan(createOutput({ color: false }), some, { limit: 1, values: true });
    expect(text.split('\n')).toEqual([
      'a.csv → https://api.example.com: plan 20261121T140000Z-1a2b3c',
      '  2 contacts to create:',
      '    c-1, Ann (line 2)',
      '      + firstName: Ann',
      '    … and 1 more',
      '  1 contact to update:',
      '    c-3 (line 2)',
      '      ~ role: Buyer → <script>alert("x")</script> | `a` [b](http://c) \ufffd[31m\ufffd',
      '  1 contact that loses values:',
      '    c-4 (line 2)',
      '      - phone.+14155550101: +14155550101 → –',
      '  1 contact with fields that are held: the file and the app differ:',
      '    c-5 (line 2)',
      '      ! company: the file says C, the app B',
      '  rejected rows:',
      '    line  column  value                                                   code          what to do',
      '    7     phone   <script>alert("x")</script> | `a` [b](http://c) \ufffd[31m\ufffd  phoneLetters  Write digits.',
      '  9 rows: 2 to create, 3 to update, 3 unchanged, 1 rejected',
      '  values: 2 added, 1 changed, 0 cleared, 1 removed, 1 held',
      '  it takes 1000 reads, 2 creates, 3 updates; about 3 minutes at the allowed rate',
      '  carry it out: patchbay import --plan 20261121T140000Z-1a2b3c',
      '  all of it: --full; as a file: --output plan.html',
    ]);
  });
});

describe('a plan with a row that is in no file', () => {
  it('names no line', async () => {
    const left = contact('c-3', { line: 0, changes: [{ field: 'role', from: 'Buyer', to: null, why: 'cleared' }] });
    const warning = { kind: 'warning', line: 0, key: 'c-3', code: 'x', field: 'role', message: 'too long' } as const;
    const plan = { ...made([left]), problems: readAgain([]), problemCount: 0, outcomes: [warning] };
    for (const text of [
      await presentPlan(createOutput({ color: false }), plan, { limit: 9, values: true }),
      await textOf(planMarkdown(planView(plan, { limit: 9, values: true }))),
    ]) {
      expect(text).toMatch(/c\\?-3/);
      expect(text).toContain('role: too long');
      expect(text).not.toContain('line');
    }
  });
});

describe('a plan of a file that lacks people', () => {
  const gone = (key: string) => {
    const since = '2026-11-20T06:00:00.000Z';
    return { kind: 'missing', line: 0, key, code: 'missing', field: null, since, message: 'not there' } as const;
  };
  const all = Array.from({ length: 7 }, (_, index) => gone(`c-${index}`));
  const plan: MadePlan = { ...made([]), missing: { count: 7, new: 1 }, outcomes: all };

  it('names the first of them, and all where nothing is cut', () => {
    const five = [0, 1, 2, 3, 4].map((n) => `c-${n} (since 2026-11-20)`).join(', ');
    const said = '7 people are no longer in the file (1 for the first time)';
    expect(planView(plan, { limit: 9, values: true }).notes).toEqual([`${said}: ${five}, and 2 more`]);
    expect(planView(plan, { limit: Number.POSITIVE_INFINITY, values: true }).notes[0]).toMatch(/, c-6 \(since/);
  });

  it('counts them alone without values', () => {
    const one: MadePlan = { ...plan, missing: { count: 1, new: 0 } };
    expect(planView(one, { limit: 9, values: false }).notes).toEqual(['1 person is no longer in the file']);
  });
});

it('a plan says a warning that is a note of the file once', () => {
  const event = { kind: 'warning', line: 2, key: null, code: 'emailRemarkDropped', field: 'E-mail' } as const;
  const notes = ['line 2: left out (first of 4 rows)'];
  const plan: MadePlan = { ...made([]), notes, outcomes: [{ ...event, message: 'left out (first of 4 rows)' }] };
  expect(planView(plan, { limit: 9, values: true }).notes).toEqual(notes);
});

describe('a plan with more outcomes than are kept', () => {
  it.each([
    [true, '2 rows skipped: deleted'],
    [false, 'at least 2 rows skipped: deleted'],
  ])('says how many rows are skipped at least (all are kept: %s)', (areOutcomesAll, note) => {
    const of = (line: number) =>
      ({ kind: 'skipped', line, key: `c-${line}`, code: 'gone', field: null, message: 'deleted' }) as const;
    const plan = { ...made([]), outcomes: [of(2), of(3)], areOutcomesAll };
    expect(planView(plan, { limit: 9, values: true }).notes).toEqual([note]);
  });
});

describe('a plan with rows of which nothing can be said', () => {
  it('says why, and that the rest is what it tells of', () => {
    const rows = { rows: 3, created: 0, updated: 0, unchanged: 0, skipped: 0, dead: 0 };
    const { plan, ...rest } = made([]);
    const requests = { get: 1, post: 0, patch: 0, delete: 0 };
    const open = { ...rest, plan: { ...plan, totals: { ...plan.totals, rows, requests } }, unsure: 3, unread: 1 };
    const { summary } = planView(open, { limit: 9, values: true });
    expect(summary[0]).toBe(
      '3 rows: 2 not known yet, since they are being written, 1 not known, since their reads fail',
    );
    expect(summary.at(-1)).toBe('nothing to write of what is known; making this plan took 3 requests');
  });
});

describe('a plan with --verify', () => {
  const drift = (key: string, code: string, rest: object) =>
    ({
      kind: 'drift',
      line: 0,
      key,
      code,
      field: null,
      message: 'the contact was deleted in the app',
      ...rest,
    }) as const;
  const plain = made([]);
  const verified: MadePlan = {
    ...plain,
    plan: { ...plain.plan, reading: plain.plan.reading && { ...plain.plan.reading, options: verifyOptions } },
    isKept: false,
    drift: { looked: 9, changed: 2, gone: 1, doubled: 0 },
    outcomes: [
      drift('c-1', 'driftChanged', { field: 'role', file: 'Buyer', app: 'Chief' }),
      drift('c-1', 'driftChanged', { field: 'phone.+14155550101', file: '+14155550101', app: null }),
      drift('c-2', 'driftGone', {}),
      drift('c-3', 'samePhone', { contact: 'c-9', value: '+14155550102', message: 'a contact has the same number' }),
    ],
  };

  it('shows what people changed, with both values, and counts contacts that are cut', async () => {
    const lines = await Array.fromAsync(
      planLines(createOutput({ color: false }), verified, { limit: 2, values: true }),
    );
    expect(lines.slice(1, 10)).toEqual([
      '  3 contacts that people changed, deleted or doubled:',
      '    c-1',
      '      ~ role: Buyer → Chief',
      '      - phone.+14155550101: +14155550101 → –',
      '    c-2',
      '      ! the contact was deleted in the app',
      '    … and 1 more',
      '  1 contact with a phone number of another contact:',
      '    c-3',
    ]);
    expect(lines[10]).toBe('      ! a contact has the same number: c-9');
    expect(await textOf(planMarkdown(planView(verified, { limit: 2, values: true })))).toContain(
      '| contact | field | in the file | in the app |',
    );
  });

  it('without values names fields alone', async () => {
    const hidden = { limit: 9, values: false };
    const document = jsonPieces(planDocument(verified, hidden, 10));
    for (const pieces of [planHtml(planView(verified, hidden)), document]) {
      const text = await textOf(pieces);
      expect(text).not.toMatch(/c-[1-9]|Buyer|Chief|1415555/);
      expect(text).toContain('role');
    }
  });

  it('ends with 10 where there is drift, asked for or not', () => {
    expect(exitCodeOfPlan(verified, false)).toBe(10);
    expect(exitCodeOfPlan({ ...verified, drift: { looked: 9, changed: 0, gone: 0, doubled: 0 } }, false)).toBe(3);
  });
});

describe('a plan as a file', () => {
  const view = planView(some, { limit: 100, values: true });

  it('in HTML holds every value as text, loads nothing and runs nothing', async () => {
    const html = await textOf(planHtml(view));
    expect(html).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
    expect(html).not.toMatch(/<script|<img|<link|src=|href=|@import|url\(|javascript:/i);
    expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202a-\u202e]/);
    expect(html).toContain(`default-src 'none'`);
    for await (const { key } of some.contacts) expect(html).toContain(`${key}`);
  });

  it('in Markdown holds every value as text', async () => {
    const markdown = await textOf(planMarkdown(view));
    expect(markdown).toContain('\\<script\\>');
    expect(markdown).toContain('\\| \\`a\\` \\[b\\]\\(http://c\\)');
    expect(markdown.split('\n').filter((line) => line.startsWith('## '))).toEqual([
      '## 2 contacts to create',
      '## 1 contact to update',
      '## 1 contact that loses values',
      '## 1 contact with fields that are held: the file and the app differ',
      '## Rejected rows',
      '## Summary',
    ]);
  });

  it('without values names fields alone', async () => {
    const hidden = planView(some, { limit: 100, values: false });
    const document = jsonPieces(planDocument(some, { limit: 100, values: false }, 0));
    for (const pieces of [planHtml(hidden), planMarkdown(hidden), document]) {
      const text = await textOf(pieces);
      expect(text).not.toMatch(/c-[1-5]|Ann|Buyer|14155550101|script.?>alert|\\u001b/);
      expect(text).toContain('role');
    }
  });
});

describe('a plan of more contacts than memory should hold', () => {
  const all = 12_000;
  const problem = { line: 7, code: 'phoneLetters', field: 'phone', value: '1-800', hint: 'Write digits.' };
  const long = (count = all, read = { count: 0 }): MadePlan => ({
    ...made([]),
    contacts: generated(count, (index) => create(`c-${index}`), read),
    contactCount: count,
    groupCounts: { ...noGroups, create: count },
    problems: generated(count, (index) => ({ ...problem, line: index + 1 }), { count: 0 }),
    problemCount: count,
  });
  const everything = { limit: Number.POSITIVE_INFINITY, values: true };

  it('is whole on a terminal, in Markdown and in JSON', async () => {
    const output = createOutput({ color: false });
    const lines = await Array.fromAsync(planLines(output, long(), everything));
    expect(lines.filter((line) => /^ {4}c-\d+, Ann/.test(line))).toHaveLength(all);
    expect(lines.filter((line) => /^ {4}\d+ +phone +1-800/.test(line))).toHaveLength(all);
    expect(lines.at(-1)).toBe('  carry it out: patchbay import --plan 20261121T140000Z-1a2b3c');
    const markdown = await textOf(planMarkdown(planView(long(), everything)));
    expect(markdown.match(/^\| c\\-\d+, Ann .*firstName/gm)).toHaveLength(all);
    expect(markdown.match(/^\| \d+ \| phone \|/gm)).toHaveLength(all);
    expect(markdown).not.toContain('more');
    for (const [between, count] of [['', all] as const, ['\n', 100] as const]) {
      const plan = { ...long(count), problems: generated(count, () => problem, { count: 0 }), problemCount: count };
      const document = JSON.parse(await textOf(jsonPieces(planDocument(plan, everything, 0), printableJson, between)));
      expect([document.contacts.length, document.contactsComplete]).toEqual([count, true]);
      expect(document.contacts.at(-1)).toMatchObject({ key: `c-${count - 1}`, do: 'create' });
      expect([document.problems.length, document.exitCode]).toEqual([count, 0]);
    }
  });

  it('is cut in HTML where a browser would not open it, and the page says where all of it is', async () => {
    const html = await textOf(planHtml(planView(long(), { limit: htmlListMax, values: true })));
    expect(html.match(/<tbody><tr><th/g)).toHaveLength(htmlListMax);
    expect(html.match(/<tr><td>\d+<\/td><td>phone/g)).toHaveLength(htmlListMax);
    expect(html.match(/… and 2000 more: .*as \.md or \.json has all/g)).toHaveLength(2);
  });

  it('is cut by a limit, and says so in JSON', async () => {
    const document = JSON.parse(await textOf(jsonPieces(planDocument(long(), { limit: 3, values: true }, 0))));
    expect([document.contacts.length, document.contactsComplete]).toEqual([3, false]);
  });

  it('is never read further than it was written', async () => {
    const count = 500;
    const read = { count: 0 };
    const texts = [
      planLines(createOutput({}), long(count, read), everything),
      planMarkdown(planView(long(count, read), everything)),
      planHtml(planView(long(count, read), everything)),
      jsonPieces(planDocument(long(count, read), everything, 0)),
    ];
    for (const pieces of texts) {
      read.count = 0;
      let [written, aheadMax] = [0, 0];
      for await (const piece of pieces) {
        written += [...piece.matchAll(/c\\?-\d+/g)].length;
        aheadMax = Math.max(aheadMax, read.count - written);
      }
      expect(aheadMax).toBeLessThanOrEqual(1);
      expect([read.count, written]).toEqual([count, count]);
    }
  });
});

function generated<Item>(count: number, item: (index: number) => Item, read: { count: number }): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]: async function* () {
      for (let index = 0; index < count; index += 1) {
        read.count += 1;
        yield item(index);
      }
    },
  };
}
