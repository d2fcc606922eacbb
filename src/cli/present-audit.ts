/** An audit for people: what was checked, which keys have two contacts and why that may be, what is missing. */

import type { AuditDocument, DuplicateContact, DuplicateDocument } from '#src/audits/audit-document.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { type Output, printable } from './output.ts';
import { instantText } from './present-values.ts';

const duplicatesShown = 10;
const keysShown = 10;

/** Indented, for below the run or the headline that it belongs to. `label` distinguishes several audits. */
export function auditLines(output: Output, audit: AuditDocument, label = 'audit'): readonly string[] {
  const { style } = output;
  const lines = [`  ${label}: ${verdict(output, audit)}`];
  if (audit.scope === 'settled' && audit.keys > 0) {
    lines.push(
      '  the keys of this run are no longer kept: checked were those that it was the last to write, or that it created',
    );
  }
  for (const duplicate of audit.duplicates.slice(0, duplicatesShown)) lines.push(...duplicateLines(output, duplicate));
  if (audit.duplicateCount > duplicatesShown) {
    lines.push(
      output.paste(`  … and ${audit.duplicateCount - duplicatesShown} more: patchbay audit ${audit.run} --json`),
    );
  }
  if (audit.duplicateCount > 0) {
    const again = `patchbay audit ${audit.run}`;
    lines.push(output.paste(`  Merge or delete all but one of each in the workspace, then check again: ${again}`));
  }
  if (audit.missing > 0) {
    lines.push(
      `  ${style('yellow', `${audit.missing} missing`)}: no contact has ${audit.missing === 1 ? 'this key' : 'these keys'} any more; deleted in the workspace since, or given another externalId`,
      ...keyLines(output, audit.missingKeys, audit.missing),
      '  Patchbay does nothing about it: a deleted contact stays deleted.',
    );
  }
  if (audit.unchecked > 0) {
    lines.push(
      `  ${style('yellow', `${audit.unchecked} not checked`)}: the service gives no answer for ${audit.unchecked === 1 ? 'this key' : 'these keys'}`,
      ...keyLines(output, audit.uncheckedKeys, audit.unchecked),
    );
  }
  return lines;
}

function verdict(output: Output, audit: AuditDocument): string {
  const { style } = output;
  const { keys, checked, duplicateCount, missing } = audit;
  if (audit.state === 'waiting') {
    const now = output.paste(`patchbay audit ${audit.run}`);
    return `${checked} of ${counted(keys, 'key')} checked so far, due ${instantText(audit.dueAt)}; to check now: ${now}`;
  }
  if (keys === 0) {
    return audit.scope === 'touched'
      ? 'no key to check: the run sent nothing'
      : 'no key to check: those of this run are no longer kept, and newer runs have written all that it wrote';
  }
  const looked = `${counted(checked, 'key')} checked`;
  if (duplicateCount > 0) {
    const has = duplicateCount === 1 ? 'has' : 'have';
    return `${looked}, ${style('red', `${duplicateCount} ${has} more than one contact`)}`;
  }
  const each = missing === 0 ? 'exactly one contact each' : 'none has more than one contact';
  return `${looked}, ${style('green', each)}`;
}

function duplicateLines(output: Output, { key, contacts, history }: DuplicateDocument): readonly string[] {
  return [
    `    ${output.values ? printable(key) : '(key not shown)'}`,
    ...contacts.map((contact) => `      ${printable(contact.id)}  ${contactLine(contact)}`),
    ...history.map(({ at, kind, run, contact, detail }) => {
      const more = [run === null ? '' : `run ${run}`, contact ?? '', detail ?? ''].filter((part) => part !== '');
      return `      ${at}  ${kind}${more.length === 0 ? '' : `: ${printable(more.join(', '))}`}`;
    }),
  ];
}

function contactLine({ createdAt, source, bound }: DuplicateContact): string {
  const created = createdAt === null ? 'created at an unknown time' : `created ${printable(createdAt)}`;
  const from = source === null ? '' : `, source ${printable(source)}`;
  if (bound === null) return `${created}${from}; the ledger does not know it`;
  const by = bound.run === null ? '' : ` by run ${bound.run}`;
  const at = bound.at === null ? '' : ` at ${bound.at}`;
  return `${created}${from}; bound to this key${by}${at}`;
}

function keyLines({ values }: Output, keys: readonly string[], count: number): readonly string[] {
  if (!values) return [];
  const lines = keys.slice(0, keysShown).map((key) => `    ${printable(key)}`);
  return count > keysShown ? [...lines, `    … and ${count - keysShown} more`] : lines;
}
