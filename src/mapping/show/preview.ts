/** What would become of a file's first rows: the contacts as they would be, and why rows would be rejected. Pure. */
import type { Problem } from '#src/contacts/outcome.ts';
import type { Row } from '#src/sources/row.ts';
import type { CompiledMapping } from '../compile-mapping.ts';
import { type ContactView, viewContact } from './contact-view.ts';

export interface Preview {
  /** The first of the rows, at most three. */
  readonly contacts: readonly PreviewRow[];
  /** How many rows were tried. */
  readonly rows: number;
  /** How many of them would be rejected. */
  readonly rejected: number;
  /** Why, by code: the first with its line, and how many rows have it. */
  readonly problems: readonly CountedProblem[];
  readonly warnings: readonly CountedProblem[];
}

export interface PreviewRow {
  readonly line: number;
  /** Null for a row that would be rejected. */
  readonly contact: ContactView | null;
  readonly problems: readonly Problem[];
}

export interface CountedProblem {
  readonly count: number;
  readonly first: Problem;
}

const contactsMax = 3;

export function previewRows(compiled: CompiledMapping, rows: readonly Row[]): Preview {
  const contacts: PreviewRow[] = [];
  const problems = new Map<string, CountedProblem>();
  const warnings = new Map<string, CountedProblem>();
  let rejected = 0;
  for (const row of rows) {
    const mapped = compiled.mapRow(row);
    const own = mapped.kind === 'dead' ? mapped.problems : [];
    if (mapped.kind === 'dead') rejected += 1;
    count(problems, own);
    count(warnings, mapped.warnings);
    const contact = mapped.kind === 'desired' ? viewContact(mapped.desired) : null;
    if (contacts.length < contactsMax) contacts.push({ line: row.line, contact, problems: own });
  }
  return { contacts, rows: rows.length, rejected, problems: [...problems.values()], warnings: [...warnings.values()] };
}

/** A row counts once for each code. */
function count(counts: Map<string, CountedProblem>, found: readonly Problem[]): void {
  for (const [code, first] of new Map(found.toReversed().map((one) => [one.code, one]))) {
    const known = counts.get(code);
    counts.set(code, known === undefined ? { count: 1, first } : { ...known, count: known.count + 1 });
  }
}
