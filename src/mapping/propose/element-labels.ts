/** Which member of the elements of a JSON list is the label of their addresses or numbers. Pure. */
import { normaliseHeader } from '#src/sources/column-name.ts';
import { isLabel, isNumberWord } from '../label-words.ts';
import type { ColumnFacts } from './column-facts.ts';
import type { JudgedColumn } from './propose-columns.ts';

/** With the label of the addresses or numbers of each list in JSON. @param columns all of the file. */
export function withLabels(columns: readonly JudgedColumn[]): readonly JudgedColumn[] {
  const labelled = new Set<string>();
  const items = columns.map((one): JudgedColumn => {
    const labelPath = labelPathOf(one, columns);
    if (labelPath === null || one.meaning.kind !== 'items') return one;
    labelled.add(labelPath);
    return { ...one, meaning: { ...one.meaning, labelPath } };
  });
  return items.map((one) => {
    if (!labelled.has(one.facts.ofElements?.path ?? '') || one.meaning.kind !== 'unused') return one;
    const reason = 'the label of what is beside it in the list';
    return { ...one, meaning: { kind: 'label' }, confidence: 'likely', reason };
  });
}

/**
 * Null where there is none: where the name of the member is a label itself (`mobile`), where the elements hold several addresses or several
 * numbers, which one label cannot tell apart, and where a `name` is that of a person or a thing.
 */
function labelPathOf({ facts, meaning }: JudgedColumn, all: readonly JudgedColumn[]): string | null {
  const { ofElements } = facts;
  if (ofElements === null || meaning.kind !== 'items' || isLabel(lastName(ofElements.path))) return null;
  const beside = all.filter(
    (one) =>
      one.meaning.kind === 'items' &&
      one.meaning.list === meaning.list &&
      one.facts.ofElements !== null &&
      listOf(one.facts.ofElements.path) === listOf(ofElements.path),
  );
  if (beside.length > 1) return null;
  const factsAt = (path: string) => all.find((one) => one.facts.ofElements?.path === path)?.facts;
  const isChosen = (path: string): boolean =>
    normaliseHeader(lastName(path)) !== 'name' || holdsLabels(factsAt(path) ?? null);
  return ofElements.labelPaths.find(isChosen) ?? pathOfWords(ofElements.path, all);
}

/** A member beside it whose name says nothing, and whose values are words for numbers alone: `work`, `mobile`, `fax`. */
function pathOfWords(path: string, all: readonly JudgedColumn[]): string | null {
  const found = all.find(
    ({ facts, meaning }) =>
      meaning.kind === 'unused' &&
      facts.ofElements !== null &&
      facts.ofElements.path !== path &&
      normaliseHeader(lastName(facts.ofElements.path)) !== 'name' &&
      listOf(facts.ofElements.path) === listOf(path) &&
      facts.values.length > 0 &&
      facts.values.every(isNumberWord),
  );
  return found?.facts.ofElements?.path ?? null;
}

/** `people[].contact.mobile` → `people[]`. */
function listOf(path: string): string {
  return path.slice(0, path.lastIndexOf('[]') + 2);
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

const labelsMax = 12;
const valuesMin = 4;

/** Labels are known, or single words of which each is used again and again. */
function holdsLabels(facts: ColumnFacts | null): boolean {
  if (facts === null || facts.values.length === 0) return false;
  if (facts.values.every(isLabel)) return true;
  const words = new Set(facts.values.map((value) => value.trim().toLowerCase()));
  const areFew = words.size <= labelsMax && words.size * 2 <= facts.filled && facts.filled >= valuesMin;
  return areFew && [...words].every((word) => !/\s/.test(word));
}
