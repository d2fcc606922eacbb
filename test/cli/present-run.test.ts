/** What people read about a run. */
import { describe, expect, it } from 'vitest';
import { createOutput } from '#src/cli/output.ts';
import { presentRun, progressLine, tally } from '#src/cli/present-run.ts';
import { presentStory } from '#src/cli/present-story.ts';
import { noOptions, type RunRecord, zeroCounts } from '#src/ledger/runs.ts';
import { eventsPerRunMax, type RunEvent } from '#src/ledger/staging.ts';
import { mappingSchema } from '#src/mapping/mapping-schema.ts';
import { runDocument, wholeRunDocument } from '#src/operations/run-document.ts';
import { stagingRun } from '#test/contracts/support/build.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { presentation, problem, summaryOf, warning } from './support/presentations.ts';

const plain = createOutput({ color: false });
const withoutValues = createOutput({ color: false, values: false });
const record = {
  ...{ id: '20261121T140000Z-0a1b2c', feed: 'main', kind: 'file', options: noOptions, mapping: null, approvals: [] },
  ...{ createdAtMs: 0, startedAtMs: 1_000, finishedAtMs: 2_000, shape: null, counts: { ...zeroCounts, rows: 1 } },
} satisfies Partial<RunRecord>;

describe('a run for people', () => {
  it('that is done: file, service, counts, requests, report', () => {
    const requests = { get: 1, post: 10, patch: 0, delete: 0, retried: 0, rateLimited: 0 };
    expect(presentRun(plain, presentation({ rows: 12, created: 10, unchanged: 2, requests })).split('\n')).toEqual([
      'people.csv → sandbox: done',
      '  12 rows: 10 created, 2 unchanged',
      '  1.3 s, 1 read, 10 creates, 0 updates sent',
      '  report: /data/reports/20261121T140000Z-0a1b2c.json',
    ]);
  });

  it('of which requests were answered with 429: how many, since that takes its time', () => {
    const requests = { get: 5, post: 6, patch: 0, delete: 0, retried: 0, rateLimited: 6 };
    expect(presentRun(plain, presentation({ rows: 3, pending: 3, requests })).split('\n')).toContain(
      '  1.3 s, 5 reads, 6 creates, 0 updates sent, 6 of them answered with 429 (too many requests)',
    );
  });

  it('with dead rows: which lines, what is wrong, what to do, and the fix-file', () => {
    const text = presentRun(
      plain,
      presentation(
        { state: 'doneWithDead', rows: 2, created: 1, dead: 1, fixFile: '/data/import/_fix/x.csv' },
        { problems: [problem()] },
      ),
    );
    expect(text).toContain('people.csv → sandbox: done, with rejected rows\n  2 rows: 1 created, 1 rejected');
    expect(text).toMatch(/line +column +value +code +what to do/);
    expect(text).toMatch(/3 +phone +call me +phoneLetters +Write it in digits\./);
    expect(text).toContain('fix these rows and drop the file in again: /data/import/_fix/x.csv');
  });

  it('whose advice for a row, or note, is a command: with the options of this one', () => {
    const output = createOutput({ color: false, data: '/srv/pb' });
    const problems = [problem({ hint: 'Correct it with: patchbay dead edit d1 --set COLUMN=VALUE' })];
    const text = presentRun(output, presentation({ state: 'doneWithDead', rows: 1, dead: 1 }, { problems }));
    expect(text).toContain('Correct it with: patchbay --data /srv/pb dead edit d1 --set COLUMN=VALUE');
    const notes = ['set it, and try again: patchbay dead retry --all --remap'];
    expect(presentRun(output, presentation({}, { notes }))).toContain('patchbay --data /srv/pb dead retry --all');
  });

  it('that skipped, held and warned of more than the report lists: at least how much, and how much of it the report has', () => {
    const of = (kind: RunEvent['kind'], count: number, code: string) =>
      Array.from({ length: count }, (_, index): RunEvent => {
        return { kind, line: index + 2, key: `c-${index}`, code, field: 'role', message: `${code}, as they say` };
      });
    const outcomes = [...of('warning', 60, 'odd'), ...of('held', 8, 'held'), ...of('skipped', 20, 'moved')];
    const made = of('skipped', eventsPerRunMax - outcomes.length, 'made');
    const counts = { rows: 30_000, skipped: 12_000, warnings: 70, heldFields: 9, moved: 25 };
    const held = outcomes.filter(({ kind }) => kind === 'held');
    const lines = presentRun(plain, presentation(counts, { outcomes: [...outcomes, ...made], held })).split('\n');
    expect(lines.find((line) => line.includes('skipped: '))).toBe(
      '  at least 9912 rows skipped: made, as they say (line 2, c-0; line 3, c-1; line 4, c-2; line 5, c-3; line 6, c-4; and 9907 more in the report)',
    );
    expect(lines.filter((line) => line.includes('… and'))).toEqual([
      '    … and 15 more, 10 of them in the report',
      '    … and 4 more, 3 of them in the report',
    ]);
    expect(lines).toContain('    role: odd, as they say (line 2, and at least 59 more)');
    // As many as the report has room for are all.
    const whole = presentRun(
      plain,
      presentation({ ...counts, skipped: made.length + 20 }, { outcomes: [...outcomes, ...made] }),
    );
    expect(whole).toContain('\n  9912 rows skipped: made');
  });

  it('that skipped rows: why, and which, by reason', () => {
    const skipped = (line: number, code: string, message: string) =>
      ({ kind: 'skipped', line, key: `c-${line}`, code, field: null, message }) as const;
    const gone = [2, 3, 4, 5, 6, 7].map((line) => skipped(line, 'gone', 'deleted in the workspace'));
    const duplicates = [8, 9].map((line) =>
      skipped(line, 'duplicate', `line ${line - 1} already has the same contact`),
    );
    const told = [skipped(10, 'moved', 'changed'), { ...skipped(0, 'cancelled', '4 rows were left out'), key: null }];
    const shown = presentation({ rows: 12, skipped: 12, moved: 1 }, { outcomes: [...gone, ...duplicates, ...told] });
    const lines = presentRun(plain, shown).split('\n');
    expect(lines.filter((line) => line.includes('skipped:'))).toEqual([
      '  6 rows skipped: deleted in the workspace (line 2, c-2; line 3, c-3; line 4, c-4; line 5, c-5; line 6, c-6; and 1 more in the report)',
      '  2 rows skipped: the file contains the same row twice (line 8, c-8; line 9, c-9)',
    ]);
    expect(presentRun(withoutValues, shown)).toContain('the same row twice (line 8; line 9)');
  });

  it('that took another one back: what stays and why, also where the report with its values is gone', () => {
    const undo = { kind: 'undo' } as const;
    const event = { kind: 'held', line: 0, key: 'c-1', code: 'changedSince', field: 'role', message: 'why' } as const;
    const held = [{ ...event, file: 'Buyer', app: 'Chief' }];
    const shown = presentRun(plain, { ...presentation({ heldFields: 1 }, { held }), record: undo });
    expect(shown).toContain('  1 value stays as it is:\n    role of c-1: Chief now, Buyer before the run (why)');
    const gone = presentRun(plain, { ...presentation({ heldFields: 2 }), record: undo });
    expect(gone).toMatch(/2 values stay as they are:\n {4}… and 2 more/);
    expect(gone).not.toContain('held ls');
  });

  it('that read a full file: who is no longer in it, and since when', () => {
    const missing = (key: string, since: string) =>
      ({ kind: 'missing', line: 0, key, code: 'missing', field: null, since, message: 'm' }) as const;
    const outcomes = [missing('crm-4', '2026-11-20T02:30:00.000Z'), missing('crm-9', '2026-11-21T02:30:00.000Z')];
    const shown = presentation({ missing: { count: 2, new: 1 } }, { outcomes });
    expect(presentRun(plain, shown)).toContain(
      '\n  2 people are no longer in the file (1 for the first time): crm-4 (since 2026-11-20), crm-9 (since 2026-11-21)\n',
    );
    expect(presentRun(withoutValues, shown)).toContain(
      '\n  2 people are no longer in the file (1 for the first time)\n',
    );
    expect(presentRun(plain, presentation({ missing: { count: 0, new: 0 } }))).not.toContain('no longer');
    // The report lists the first people, and may have all else.
    const many = Array.from({ length: 7 }, (_, index) => missing(`crm-${index}`, '2026-11-20T02:30:00.000Z'));
    const most = presentRun(plain, presentation({ missing: { count: 40, new: 0 } }, { outcomes: many }));
    expect(most).toContain('crm-4 (since 2026-11-20), and 35 more, 2 of them in the report\n');
  });

  it('that looked for drift: what was changed, from what to what, and nothing of it without values', () => {
    const drift = { kind: 'drift', line: 0, key: 'crm-4' } as const;
    const outcomes = [
      { ...drift, code: 'driftChanged', field: 'role', message: 'm', file: 'Buyer', app: null },
      { ...drift, code: 'driftGone', field: null, message: 'the contact was deleted in the app' },
    ];
    expect(presentRun(plain, presentation({}, { outcomes }))).toContain(
      '\n  drift: crm-4 role "Buyer" → null\n  drift: crm-4 the contact was deleted in the app\n',
    );
    expect(presentRun(withoutValues, presentation({}, { outcomes }))).not.toContain('drift');
  });

  it('names a fix-file so that its path can be pasted', () => {
    const text = presentRun(plain, presentation({ state: 'doneWithDead', dead: 1, fixFile: '/my data/x.csv' }));
    expect(text).toContain("  fix these rows and drop the file in again: '/my data/x.csv'");
  });

  it('that was approved: what was let pass, and why', () => {
    const figures = [
      { guard: 'updates', count: 5, base: 10, limit: 0.3 },
      { guard: 'unmapped', count: 1, base: 1, limit: 0 },
      { guard: 'columns', count: 2, base: 4, limit: 0 },
    ];
    const approvals = [{ checksum: 'c', figures, reason: 'new export', atMs: 0 }];
    const text = presentStory(plain, { ...presentation({}), record: { ...record, approvals } }, false);
    expect(text).toContain(
      '  approved 1970-01-01 00:00:00Z updates 5 of 10 (50%), despite unmapped columns: 1, despite missing columns: 2: new export\n',
    );
  });

  it.each([
    [null, 'generic layout'],
    [{ name: 'crm', key: 'Nr' }, 'mapping crm'],
    [{ name: 'hubspot', key: 'Record ID', recognise: [{ headers: ['Record ID'] }] }, 'preset hubspot'],
  ])('says by which layout it was read: %j', (given, words) => {
    const mapping = given === null ? null : mappingSchema.parse(given);
    const text = presentStory(plain, { ...presentation({}), record: { ...record, mapping } }, false);
    expect(text.split('\n', 1)[0]).toMatch(new RegExp(`, ${words}$`));
  });

  it('of a file that was not read names no layout, and says where it and its note are', () => {
    const reason = { code: 'xlsxProtected', message: 'it has a password', hint: 'Remove it.' };
    const failedFile = { path: '/in/_failed/1__a b.xlsx', note: '/in/_failed/1__a b.xlsx.reason.txt' };
    const unread = { ...record, counts: zeroCounts };
    const failed = presentation({ state: 'failed' }, { reason, failedFile });
    const text = presentStory(plain, { ...failed, record: unread }, false);
    expect(text.split('\n', 1)[0]).toMatch(/, received \S+ \S+$/);
    expect(text).toContain(
      "  Remove it.\n  the file is now here: '/in/_failed/1__a b.xlsx'\n  why it failed, as a note: '/in/_failed/1__a b.xlsx.reason.txt'\n",
    );
  });

  it('that was interrupted: why, and no plan or report, which there are not', () => {
    const reason = { code: 'serviceFailing', message: 'no progress for 4s: …', hint: 'Run the same command again.' };
    const rest = { reason, hasReport: false, isInterrupted: true };
    expect(presentRun(plain, presentation({ state: 'stopped', rows: 5, pending: 5 }, rest)).split('\n')).toEqual([
      'people.csv → sandbox: interrupted',
      '  5 rows: 5 pending',
      '  no progress for 4s: … [serviceFailing]',
      '  Run the same command again.',
      '  1.3 s, 0 reads, 0 creates, 0 updates sent',
    ]);
  });

  it('that a guard stopped: why, and how to go on', () => {
    const reason = { code: 'guardUpdates', message: 'stopped before the first write: …', hint: 'Look at the file.' };
    const text = presentRun(plain, presentation({ state: 'stopped', rows: 5, pending: 5 }, { reason }));
    expect(text.split('\n').slice(0, 4)).toEqual([
      'people.csv → sandbox: stopped',
      '  5 rows: 5 pending',
      '  stopped before the first write: … [guardUpdates]',
      '  Look at the file.',
    ]);
  });

  it('that failed: the file could not be read, and the reason', () => {
    const reason = { code: 'quoteUnclosed', message: 'a quote never closes', hint: null };
    const text = presentRun(plain, presentation({ state: 'failed' }, { reason }));
    expect(text.split('\n').slice(0, 3)).toEqual([
      'people.csv → sandbox: the file could not be imported',
      '  0 rows',
      '  a quote never closes [quoteUnclosed]',
    ]);
  });

  it.each([
    ['keyColumnMissing', 'not imported: no id column found'],
    ['webPage', 'not imported: it is not an export'],
    ['morePages', 'not imported: it is one page of several'],
  ])('that failed with %s: not that the file could not be read', (code, headline) => {
    const reason = { code, message: 'people.csv: …', hint: null };
    expect(presentRun(plain, presentation({ state: 'failed' }, { reason }))).toContain(
      `people.csv → sandbox: ${headline}\n`,
    );
  });

  it('says that the report may not list all that people changed', () => {
    const outcomes = Array.from({ length: eventsPerRunMax }, (_, index): RunEvent => {
      const message = 'the contact was deleted in the app';
      return { kind: 'drift', line: 0, key: `c-${index}`, code: 'driftGone', field: null, message };
    });
    const rest = `${eventsPerRunMax - 10} of it in the report; the report does not list all`;
    expect(presentRun(plain, presentation({}, { outcomes }))).toContain(`  … and more, ${rest}\n`);
  });

  it('shows ten problems and says how many more there are', () => {
    const problems = Array.from({ length: 13 }, (_, index) => problem({ line: index + 100 }));
    const text = presentRun(plain, presentation({ state: 'doneWithDead' }, { problems }));
    expect(text.match(/phoneLetters/g)).toHaveLength(10);
    expect(text).toContain('… and 3 more in the report');
  });

  it('names the record beside the line where several records share it', () => {
    const problems = [problem({ line: 1, record: 17 }), problem({ line: 2 })];
    const text = presentRun(plain, presentation({ state: 'doneWithDead' }, { problems }));
    expect(text).toMatch(/ 1, record 17 +phone .*\n +2 +phone /);
  });

  it('counts warnings and says how to see them', () => {
    expect(presentRun(plain, presentation({ warnings: 5 }))).toContain(
      '  5 warnings: see patchbay runs show 20261121T140000Z-0a1b2c\n',
    );
    expect(presentRun(plain, presentation({ warnings: 1 }))).toContain('  1 warning: see');
  });

  it('shows each kind of warning about rows, the most frequent first, five at most, and no values', () => {
    const assigned = { code: 'phoneUnassigned', message: 'the number is not assigned' };
    const others = Array.from({ length: 5 }, (_, index) => warning({ field: `column ${index}`, line: 20 + index }));
    const outcomes = [
      ...[warning({ line: 4, ...assigned }), warning({ line: 7 }), warning({ line: 9 })],
      ...[warning({ line: 1, key: null, message: 'about the file' }), ...others],
    ];
    const notes = ['line 1: about the file'];
    const text = presentRun(plain, presentation({ warnings: 9 }, { outcomes, notes }));
    expect(text).toContain(
      '  8 warnings: see patchbay runs show 20261121T140000Z-0a1b2c\n' +
        '    phone: the extension was left out (line 7, and 1 more)\n' +
        '    phone: the number is not assigned (line 4)\n',
    );
    expect(text).toContain('    … and 2 more kinds\n');
    expect(text.match(/about the file/g)).toHaveLength(1);
    expect(text).not.toContain('+1415');
  });

  it('lists what is said of the file among the warnings where no note says it', () => {
    const outcomes = [warning({ line: 1, key: null, field: null, message: 'about the file' })];
    const text = presentRun(plain, presentation({ warnings: 1 }, { outcomes }));
    expect(text).toMatch(/ {2}1 warning: see .*\n {4}about the file \(line 1\)\n/);
  });

  it('counts no warnings that are notes, and at length lists those of them alone that are on lines without a contact as notes', () => {
    const notes = ['line 1 is left out: it is above the header', 'short.csv is not UTF-8'];
    const outcomes = [
      warning({ key: null, code: 'preambleLine', message: notes[0] ?? '', value: 'Notes:' }),
      warning({ key: null, code: 'notUtf8', message: notes[1] ?? '' }),
    ];
    expect(presentRun(plain, presentation({ warnings: 2 }, { notes, outcomes }))).not.toContain('warning');
    const whole = { ...presentation({ warnings: 2 }, { notes, outcomes }), record };
    expect(presentStory(plain, whole, false)).toContain(`  note: ${notes[0]}: Notes:\n`);
    expect(presentStory(plain, whole, false)).toContain('  1 warning:\n');
    const [first] = outcomes;
    const alone = presentation({ warnings: 1 }, { notes, outcomes: first === undefined ? [] : [first] });
    expect(presentRun(plain, alone)).not.toContain('warning');
  });

  it('says behind a note what to do about it, once where several have the same hint, and nothing where nothing is to be done', () => {
    const about = (message: string, hint: string) => warning({ key: null, field: null, value: null, message, hint });
    const outcomes = [
      about('column 3 has no name', 'Give the column a name.'),
      about('column 5 has no name', 'Give the column a name.'),
      about('line 9 is left out', 'Nothing to do if that is right.'),
      about('a.csv is not UTF-8', 'If that should be “Zoë”, save it as UTF-8.'),
    ];
    const notes = [...outcomes.map(({ message }) => message), 'another note'];
    const shown = presentation({ warnings: 4 }, { notes, outcomes });
    expect(presentRun(plain, shown)).toContain(
      [
        '  note: column 3 has no name',
        '  note: column 5 has no name',
        '    Give the column a name.',
        '  note: line 9 is left out',
        '  note: a.csv is not UTF-8',
        '    If that should be “Zoë”, save it as UTF-8.',
        '  note: another note\n',
      ].join('\n'),
    );
    expect(presentRun({ ...plain, values: false }, shown)).toContain('    If that should be “…”, save it as UTF-8.\n');
    const whole = presentStory(plain, { ...shown, record }, false);
    expect(whole).toContain('column 5 has no name. Give the column a name.\n');
    expect(whole.match(/Give the column a name/g)).toHaveLength(1);
  });

  it('tells which contacts may be there already, and after that which were linked', () => {
    const match = {
      kind: 'match',
      line: 2,
      key: 'g-1',
      field: 'phone.+14155550101',
      contact: 'c1',
      message: '',
    } as const;
    const found = { ...match, code: 'matchFound' };
    const unclear = { ...match, line: 3, code: 'matchUnclear' };
    const asked = presentRun(plain, presentation({ state: 'stopped' }, { matches: [found, unclear] }));
    expect(asked).toContain('  2 contacts that may be there already:\n');
    expect(asked).toMatch(/name in the app +which\n/);
    const linked = presentRun(plain, presentation({ linked: 1 }, { matches: [found] }));
    expect(linked).toContain('  1 contact linked to what was there:\n');
    expect(presentRun(plain, presentation({ linked: 1 }, { matches: [found, unclear] }))).toContain(
      '  1 contact linked to what was there; 1 row unclear, and not linked:\n',
    );
  });

  it('lists contacts that would become another person’s apart, with both names, unless values are not wanted', () => {
    const taken = { kind: 'match', line: 9, key: 'b-1', code: 'matchOther', field: null, message: '' } as const;
    const run = presentation({ state: 'stopped' }, { matches: [{ ...taken, file: 'Ben Elm', app: 'Ann Fir' }] });
    expect(presentRun(plain, run)).toMatch(
      / {2}1 contact that would become another person's:\n +line +key +name before +name in the file\n +9 +b-1 +Ann Fir +Ben Elm\n/,
    );
    expect(presentRun(plain, run)).not.toContain('may be there already');
    expect(presentRun(withoutValues, run)).not.toContain('Ann');
  });

  it('names the value with a note about the file, unless values are not wanted', () => {
    const notes = ['line 2, name: the text was decoded wrongly before it came here'];
    const outcomes = [warning({ key: null, message: notes[0] ?? '', value: 'MÃ¼ller' })];
    expect(presentRun(plain, presentation({}, { notes, outcomes }))).toContain(`  note: ${notes[0]}: MÃ¼ller\n`);
    expect(presentRun(withoutValues, presentation({}, { notes, outcomes }))).toContain(`  note: ${notes[0]}\n`);
  });

  it('lists warnings with line and value where it is shown whole, each once, fifty at most', () => {
    const outcomes = Array.from({ length: 60 }, (_, line) => warning({ line }));
    const notes = ['the extension was left out', 'nothing maps these columns: Notes'];
    const text = presentStory(plain, { ...presentation({ warnings: 60 }, { outcomes, notes }), record }, false);
    expect(text).toMatch(/ {2}60 warnings:\n +line +column +value +code +what was done\n/);
    expect(text.match(/phone +\+1415 x12 +phoneExtensionDropped +the extension was left out/g)).toHaveLength(50);
    expect(text).toContain(`… and 10 more: patchbay runs show ${record.id} --full`);
    expect(text.match(/note:/g)).toHaveLength(1);
  });

  it('tells held fields with both values, the first few of them, and what to type; and notes', () => {
    const held = Array.from({ length: 7 }, (_, index) => ({
      ...({ kind: 'held', code: 'held', message: 'm' } as const),
      ...{ line: index + 2, key: `h-${index}`, field: 'role', file: 'Lead', app: ['a', 'b'] },
    }));
    const notes = ['nothing maps these columns: Notes'];
    const text = presentRun(plain, presentation({ heldFields: 7 }, { held, notes }));
    expect(text).toContain("7 fields held: the file and the app differ; kept the app's value\n");
    expect(text).toContain('    line 2: role of h-0: the file says Lead, the app a; b\n');
    expect(text).toContain('    … and 2 more in the report\n    list and decide: patchbay held ls\n');
    expect(text).not.toContain('h-5');
    expect(text).toContain('note: nothing maps these columns: Notes');
  });

  it('tells held fields of an older report, which has no values, and never with --no-values', () => {
    const line = { kind: 'held', line: 2, key: 'h-1', code: 'held', field: 'role', message: 'm' } as const;
    const older = presentRun(plain, presentation({ heldFields: 1 }, { held: [line] }));
    expect(older).toContain('    line 2: role of h-1\n');
    const held = [{ ...line, file: 'Lead', app: null }];
    expect(presentRun(plain, presentation({ heldFields: 1 }, { held }))).toContain('the file says Lead, the app –\n');
    const hidden = presentRun(withoutValues, presentation({ heldFields: 1 }, { held }));
    expect(hidden).toContain('    line 2: role\n');
    expect(hidden).not.toMatch(/h-1|Lead/);
    const left = presentRun(plain, presentation({ heldFields: 1 }, { held: [{ ...line, line: 0 }] }));
    expect(left).toContain('    role of h-1\n');
  });

  it('counts adopted contacts beside the updated ones', () => {
    expect(tally(summaryOf({ rows: 3, updated: 3, adopted: 2 }))).toBe('3 rows: 3 updated (2 adopted)');
    expect(tally(summaryOf({ rows: 1, skipped: 1 }))).toBe('1 row: 1 skipped');
  });

  it('cuts long values, so that a line stays a line', () => {
    const text = presentRun(plain, presentation({}, { problems: [problem({ value: 'x'.repeat(500) })] }));
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(160);
  });
});

describe('--no-values', () => {
  it('leaves the values out of the table', () => {
    const text = presentRun(withoutValues, presentation({}, { problems: [problem()] }));
    expect(text).not.toContain('call me');
    expect(text).toContain('phoneLetters');
    expect(text).not.toMatch(/column +value/);
  });

  it('leaves the values out of the document', () => {
    const document = runDocument(presentation({}, { problems: [problem()] }), false);
    expect(document.problems).toEqual([problem({ value: null })]);
    expect(runDocument(presentation({}, { problems: [problem()] }), true).problems).toEqual([problem()]);
  });
});

describe('--no-values in what is warned of and changed', () => {
  const changed = {
    ...({
      kind: 'changed',
      line: 2,
      key: 'c-1',
      code: 'updated',
      field: null,
      message: '2 fields were written',
    } as const),
    fields: ['role', 'phone.+14155550101'],
  };
  // Of a report as an older version wrote it, and as it is written.
  const before = warning({
    code: 'replyDiffers',
    field: null,
    value: null,
    message: 'email.ann@example.com came back',
  });
  const reply = warning({ code: 'replyDiffers', field: 'email.ann@example.com', value: null, message: 'it came back' });

  it('leaves out cells, keys, and addresses and numbers that name an item', () => {
    const outcomes = [warning(), changed, before, reply];
    const text = presentStory(withoutValues, { ...presentation({ warnings: 3 }, { outcomes }), record }, false);
    const shown = JSON.stringify(wholeRunDocument(presentation({}, { outcomes }), false));
    for (const one of [text, shown]) expect(one).not.toMatch(/1415|ann@|c-1/);
    expect(shown).toContain('"fields":["role","phone"]');
    expect(wholeRunDocument(presentation({}, { outcomes }), true)).toMatchObject({ outcomes });
  });
});

describe('text from files', () => {
  const nasty = '\u001b[2J\u001b]0;title\u0007\r\u009b31m\u202eevil\u2028';

  it('neither moves the cursor nor colours the terminal, wherever it stands', () => {
    const text = presentRun(
      plain,
      presentation(
        { file: nasty },
        {
          problems: [problem({ field: nasty, value: nasty, hint: nasty })],
          notes: [nasty],
          reason: { code: 'keyColumnMissing', message: `found: ${nasty}`, hint: `"${nasty}" looks like it` },
        },
      ),
    );
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
    expect(text).toContain('evil');
  });

  it('does not either while the run is at work', async () => {
    const opened = await openTempLedger();
    const run = await stagingRun(opened.ledger, 'r-1', { fileName: nasty });
    await opened.close();
    for (const state of ['staging', 'applying'] as const) {
      expect(progressLine({ ...run, state })).not.toMatch(/\p{Cc}/u);
    }
  });
});

describe('progress', () => {
  it('tells the rows read, then the rows that are settled', async () => {
    const opened = await openTempLedger();
    const run = await stagingRun(opened.ledger, 'r-1', { fileName: 'a.csv' });
    await opened.close();
    const counts = { ...zeroCounts, rows: 10, created: 3, dead: 1 };
    expect(progressLine({ ...run, state: 'staging', counts })).toBe('a.csv: staging, 10 rows read');
    expect(progressLine({ ...run, state: 'applying', counts })).toBe('a.csv: 4 of 10 rows');
    const one = { ...zeroCounts, rows: 1 };
    expect(progressLine({ ...run, state: 'staging', counts: one })).toBe('a.csv: staging, 1 row read');
    expect(progressLine({ ...run, state: 'applying', counts: one })).toBe('a.csv: 0 of 1 row');
  });
});
