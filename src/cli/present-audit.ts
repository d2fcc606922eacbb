/** An audit for people: what was checked, which keys have two contacts and why that may be, what is missing. */
import type { Home } from '#src/app.ts';
import {
  type AuditDocument,
  type DuplicateContact,
  type DuplicateDocument,
  readAudit,
} from '#src/audits/audit-document.ts';
import type { AuditEnd } from '#src/audits/follow-audit.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { adviceFor } from './exit.ts';
import { type Output, printable } from './output.ts';

const duplicatesShown = 10;
const keysShown = 10;

/** Indented, to stand below the run or the headline that it belongs to. `label` tells several audits apart. */
export function auditLines(output: Output, audit: AuditDocument, label = 'audit'): readonly string[] {
  const { style } = output;
  const lines = [`  ${label}: ${verdict(output, audit)}`];
  if (audit.scope === 'settled' && audit.keys > 0) {
    lines.push(
      '  the keys of this run are not kept any more: looked at were those that it was the last to write, or that it created',
    );
  }
  for (const duplicate of audit.duplicates.slice(0, duplicatesShown)) lines.push(...duplicateLines(output, duplicate));
  if (audit.duplicateCount > duplicatesShown) {
    lines.push(`  … and ${audit.duplicateCount - duplicatesShown} more: patchbay audit ${audit.run} --json`);
  }
  if (audit.duplicateCount > 0) {
    lines.push(`  Merge or delete all but one of each in the workspace, then look again: patchbay audit ${audit.run}`);
  }
  if (audit.missing > 0) {
    lines.push(
      `  ${style('yellow', `${audit.missing} missing`)}: no contact has ${audit.missing === 1 ? 'this key' : 'these keys'} any more; deleted in the workspace since, or given another externalId`,
      ...keyLines(output, audit.missingKeys, audit.missing),
      '  Patchbay leaves it so: a contact that was deleted stays gone.',
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

function verdict({ style }: Output, audit: AuditDocument): string {
  const { keys, checked, duplicateCount, missing } = audit;
  if (audit.state === 'waiting') return `${checked} of ${counted(keys, 'key')} checked so far, due ${audit.dueAt}`;
  if (keys === 0) {
    return audit.scope === 'touched'
      ? 'no key to check: the run sent nothing'
      : 'no key to check: those of this run are not kept any more, and newer runs have written all that it wrote';
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

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** What an audit came to, for `audit RUN`, `import --audit` and `runs show`: document and exit code. */
export interface AuditResult {
  readonly document: AuditDocument;
  readonly exitCode: number;
  /** Why it was not carried out to its end. */
  readonly reason: { readonly code: string; readonly message: string; readonly hint: string } | null;
}

/** `import --json` with `--audit`: the part that tells of the audit; null where it was not carried out. */
type RunAudit = Pick<AuditDocument, 'checked' | 'duplicates' | 'missing' | 'unchecked' | 'requests'> | null;

export async function auditResultOf(home: Pick<Home, 'ledger'>, end: AuditEnd, values: boolean): Promise<AuditResult> {
  const known = await readAudit(home.ledger, end.audit);
  const document = shownAudit(known, values);
  switch (end.kind) {
    case 'done':
      return { document, exitCode: document.duplicateCount > 0 ? exitCodes.dead : exitCodes.done, reason: null };
    case 'auth':
      return {
        document,
        exitCode: exitCodes.auth,
        reason: {
          code: end.pause.errorCode ?? 'keyRefused',
          message: end.pause.message,
          hint: 'Set a working key: the next engine goes on with the audit, and so does the same command.',
        },
      };
    default: {
      const pause = end.kind === 'unreachable' ? end.pause : null;
      const code = pause?.errorCode ?? 'serviceUnreachable';
      const hint = `The next engine goes on with the audit, and so does: patchbay audit ${end.audit.runId}`;
      const advice = code === 'serviceUnreachable' ? null : adviceFor(code);
      return {
        document,
        exitCode: exitCodes.unreachable,
        reason: { code, message: pause?.message ?? 'nothing moved for a long time', hint: advice ?? hint },
      };
    }
  }
}

export function runAuditOf({ document, reason }: AuditResult): RunAudit {
  if (reason !== null) return null;
  const { checked, duplicates, missing, unchecked, requests } = document;
  return { checked, duplicates, missing, unchecked, requests };
}

/** `--no-values`: keys and source labels come from files and contacts; ids do not. */
export function shownAudit(document: AuditDocument, values: boolean): AuditDocument {
  if (values) return document;
  return {
    ...document,
    duplicates: document.duplicates.map((one) => ({
      ...one,
      key: '',
      contacts: one.contacts.map((contact) => ({ ...contact, source: null })),
    })),
    missingKeys: [],
    uncheckedKeys: [],
  };
}
