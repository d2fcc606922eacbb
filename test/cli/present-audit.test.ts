/** An audit for people (`docs/rules.md`, "One contact per key", step 7). */
import { describe, expect, it } from 'vitest';
import type { AuditDocument } from '#src/audits/audit-document.ts';
import { createOutput } from '#src/cli/output.ts';
import { auditLines } from '#src/cli/present-audit.ts';

const clean: AuditDocument = {
  audit: 'a1',
  run: 'r-1',
  kind: 'demand',
  scope: 'touched',
  state: 'done',
  dueAt: '2026-11-21T12:00:00.000Z',
  finishedAt: '2026-11-21T12:00:01.000Z',
  keys: 12,
  checked: 12,
  duplicates: [],
  duplicateCount: 0,
  missing: 0,
  missingKeys: [],
  unchecked: 0,
  uncheckedKeys: [],
  requests: 1,
};
const duplicated: AuditDocument = {
  ...clean,
  duplicateCount: 1,
  duplicates: [
    {
      key: 'c-2\u001b[2J',
      contacts: [
        {
          id: 'CT1',
          createdAt: '2026-11-21T11:00:00.000Z',
          source: 'crm',
          bound: { run: 'r-1', at: '2026-11-21T11:00:01.000Z' },
        },
        { id: 'CT2', createdAt: null, source: null, bound: null },
      ],
      history: [{ at: '2026-11-21T11:00:00.500Z', run: 'r-1', kind: 'doubt', contact: null, detail: 'ECONNRESET' }],
    },
  ],
};
const lines = (audit: AuditDocument, options = {}) => auditLines(createOutput({ color: false, ...options }), audit);

describe('an audit', () => {
  it('says in one line that all is well', () => {
    expect(lines(clean)).toEqual(['  audit: 12 keys checked, exactly one contact each']);
  });

  it('that waits says when it is due, and how to check now', () => {
    expect(lines({ ...clean, state: 'waiting', checked: 0 }, { sandbox: true })).toEqual([
      '  audit: 0 of 12 keys checked so far, due 2026-11-21 12:00:00Z; to check now: patchbay audit --sandbox r-1',
    ]);
  });

  it('names the contacts of a duplicate, what is known of them, and what to do', () => {
    expect(lines(duplicated)).toEqual([
      '  audit: 12 keys checked, 1 has more than one contact',
      '    c-2\ufffd[2J',
      '      CT1  created 2026-11-21T11:00:00.000Z, source crm; bound to this key by run r-1 at 2026-11-21T11:00:01.000Z',
      '      CT2  created at an unknown time; the ledger does not know it',
      '      2026-11-21T11:00:00.500Z  doubt: run r-1, ECONNRESET',
      '  Merge or delete all but one of each in the workspace, then check again: patchbay audit r-1',
    ]);
  });

  it('shows no key with --no-values', () => {
    const hidden = lines({ ...duplicated, missing: 1, missingKeys: ['c-3'] }, { values: false }).join('\n');
    expect(hidden).toContain('CT1');
    expect(hidden).not.toMatch(/c-\d/);
  });

  it('says what missing means, and that nothing is done about it', () => {
    expect(lines({ ...clean, missing: 2, missingKeys: ['c-3', 'c-4'] })).toEqual([
      '  audit: 12 keys checked, none has more than one contact',
      '  2 missing: no contact has these keys any more; deleted in the workspace since, or given another externalId',
      '    c-3',
      '    c-4',
      '  Patchbay does nothing about it: a deleted contact stays deleted.',
    ]);
  });

  it('is honest about a run whose keys are not kept any more', () => {
    expect(lines({ ...clean, scope: 'settled' })[1]).toContain('no longer kept');
    expect(lines({ ...clean, scope: 'settled', keys: 0, checked: 0 })[0]).toContain('no key to check');
    expect(lines({ ...clean, keys: 0, checked: 0 })[0]).toBe('  audit: no key to check: the run sent nothing');
  });
});
