/** What is said of values that the mapping puts together from several cells: no cell of them is the whole value. Pure. */
import type { Flaw, WarningCode } from './cell.ts';
import type { CellReading, Finding } from './cells.ts';
import type { Expression, Found } from './expression.ts';
import type { Target } from './layout.ts';

/** Adds what is worth knowing of a value that was put together; most readings stay as they are. */
export function withMadeOf(reading: CellReading, found: Found, target: Target, value: Expression): CellReading {
  if (target.kind === 'key' && found.blankParts !== undefined) return withBlankPart(reading, found, found.blankParts);
  if (reading.problems.length === 0 || target.kind !== 'scalar' || target.name !== 'sourceUrl') return reading;
  const made = wholeOf(value);
  if (made === null) return reading;
  const isOwn = ({ flaw }: Finding): boolean => flaw.code === 'sourceUrlInvalid';
  const about = (finding: Finding): Finding =>
    isOwn(finding)
      ? { ...finding, field: target.name, flaw: { ...finding.flaw, ...linkAdvice(made, found) } }
      : finding;
  return { ...reading, problems: reading.problems.map(about) };
}

/** A key that lacks a part is a rest that several people may share, and the later row would be taken for the same person. */
function withBlankPart(reading: CellReading, { raw }: Found, blankParts: readonly string[]): CellReading {
  // The columns that lack it, so that rows are counted by them.
  const finding = { field: blankParts.join(' + '), raw, flaw: keyPartBlank };
  return { ...reading, warnings: [...reading.warnings, finding] };
}

const keyPartBlank: Flaw<WarningCode> = {
  code: 'keyPartBlank',
  message:
    'a part of the key is blank: rows that are alike in the other parts count as one person: in one file they are rejected, and a later file overwrites',
  hint: 'Fill the cell in. To leave such rows out, name the column in skipRows of the mapping with isBlank: true.',
};

type Whole = Extract<Expression, { kind: 'template' | 'join' }>;

/** Of a value that is a template or a join, whatever is done with it later; null of any other. */
function wholeOf(value: Expression): Whole | null {
  if (value.kind === 'steps') return wholeOf(value.of);
  return value.kind === 'template' || value.kind === 'join' ? value : null;
}

/** The columns hold a part alone: the whole link in one of them would ruin what else reads it. */
function linkAdvice(made: Whole, { field }: Found): Pick<Flaw, 'message' | 'hint'> {
  const [first] = made.kind === 'template' ? made.pieces : [];
  if (typeof first === 'string' && !/^\s*https?:\/\//i.test(first)) {
    return {
      message:
        'what the mapping makes of the template is not an http or https link, since the template does not begin with one',
      hint: `Correct the template of sourceUrl in the mapping: write https:// in front of ${JSON.stringify(first)}.`,
    };
  }
  return {
    message: `what the mapping puts together from ${field} is not an http or https link of at most 200 characters`,
    hint: `Correct the template of sourceUrl in the mapping, or what the row holds for ${field}.`,
  };
}
