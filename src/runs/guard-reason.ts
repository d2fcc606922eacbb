/** What a guard says to people: why it stops the run, and what to do next, with the commands as they are typed. Pure. */
import { isoInstant } from '#src/clock.ts';
import { unreachable } from '#src/errors.ts';
import { counted, figureFacts, guardCode, percent } from '#src/ledger/rules/approval.ts';
import { cameByItself, type RunReason, type RunRecord } from '#src/ledger/runs.ts';
import { countryLeftOut } from '#src/mapping/contradicted-country.ts';
import { shellWord } from '#src/shell-words.ts';
import { listNames } from '#src/sources/row.ts';
import type { Guard, GuardVerdict } from './guards.ts';
import { importFlags } from './import-flags.ts';
import { formSentence, isOfLetters } from './look/key-forms.ts';

/** Whether a person must say what becomes of contacts without an externalId before the run may continue. */
export function asksForLinks({ facts }: Pick<RunReason, 'facts'>): boolean {
  return facts.unlinkedCount !== undefined;
}

/** How the message of a stopped run begins. */
export const stoppedBefore = 'stopped before the first write: ';

/** Why a run is stopped, for people: the figures of each guard that stopped it, the key to set, and the exact command to approve it. */
export function guardReason(
  verdicts: readonly GuardVerdict[],
  run: Pick<RunRecord, 'id' | 'feed' | 'kind' | 'options' | 'counts'>,
  serviceName: string,
): RunReason {
  const { id, feed, kind, options } = run;
  const flags = flagsThatPass(verdicts);
  const advices = verdicts.flatMap(({ advice }) => (advice === undefined ? [] : [advice]));
  const check = advices.length === verdicts.length ? advices : [...advices, 'Check the file.'];
  const shown = {
    code: guardCode(verdicts[0]?.guard ?? 'updates'),
    message: `${stoppedBefore}${sentencesOf(verdicts)}`,
    facts: figureFacts(verdicts),
  };
  const unlinked = verdicts.find(({ guard }) => guard === 'unlinked');
  if (unlinked !== undefined) {
    const { count, unclear = 0 } = unlinked;
    const others = verdicts.length === 1 ? [] : [[...advices, 'Either passes the other guards, too.'].join(' ')];
    return { ...shown, hint: [linkHint(id, serviceName, { matched: count - unclear, unclear }), ...others].join('\n') };
  }
  if (isOfLetters({ kind }))
    return { ...shown, hint: [...advices, ...lettersHint(run, verdicts, serviceName)].join('\n') };
  const refuse = [...check, refuseLine(id, serviceName)].join(' ');
  const approve = approveCommand(id, serviceName);
  if (cameByItself(run)) {
    const again = `To read it anew after a change of the mapping or the limits: ${approve.replace('approve', 'restage')}`;
    return { ...shown, hint: [refuse, again, `If this is expected, approve the run: ${approve}`].join('\n') };
  }
  // The rows that were chosen are to stay the same: without `--only` the same flags would import the whole file.
  const { mappingNamed } = options;
  const chosen = importFlags({ feed, mappingNamed, options: { ...options, maxChange: null, maxDead: null } });
  return {
    ...shown,
    hint: `${refuse}\nIf this is expected, import it again with ${chosen.map((word) => `${word} `).join('')}${flags === null ? '' : `${flags} or `}--accept, or approve the run: ${approve}`,
  };
}

/** Of a run that writes nothing, in a note: what would stop an import of its file. */
export function guardNotes(verdicts: readonly GuardVerdict[]): readonly string[] {
  return verdicts.length === 0
    ? []
    : [`importing this file would stop before the first write: ${sentencesOf(verdicts)}`];
}

function sentencesOf(verdicts: readonly GuardVerdict[]): string {
  return verdicts.map(sentence).join('; ');
}

/** One line for each thing to do. Linking comes first: what differs afterwards still waits for a person. */
function linkHint(
  runId: string,
  serviceName: string,
  { matched, unclear }: { readonly matched: number; readonly unclear: number },
): string {
  const approve = approveCommand(runId, serviceName);
  const rejected = unclear === 1 ? '; the unclear row is rejected' : `; the ${unclear} unclear rows are rejected`;
  const link = `To link them (fills empty fields, overwrites nothing${unclear === 0 ? '' : rejected})`;
  return [
    `${matched === 0 ? 'To reject these rows, with advice' : link}: ${approve} --adopt`,
    `To create them a second time: ${approve} --create-anyway`,
    `To see each pair: ${approve.replace('approve', 'show')}`,
    refuseLine(runId, serviceName),
  ].join('\n');
}

/**
 * Of rows that are corrected or tried again: one line for each thing to do. No file that is imported again brings all of them, and a run
 * is cancelled as a whole: what was corrected in its other rows is in the fix-file alone.
 */
function lettersHint(
  { id, feed, kind, counts }: Pick<RunRecord, 'id' | 'feed' | 'kind' | 'counts'>,
  verdicts: readonly GuardVerdict[],
  serviceName: string,
): readonly string[] {
  const approve = approveCommand(id, serviceName);
  const list = `patchbay dead ls ${serviceName === 'sandbox' ? '--sandbox ' : ''}--feed ${shellWord(feed)}`;
  const others = counts.rows - verdicts.reduce((sum, { count }) => sum + count, 0);
  const all = others > 0 ? `, cancel all ${counts.rows} rows of the run` : '';
  const again =
    kind === 'fixFile'
      ? 'Then take these rows out of the fix-file, which alone has what was corrected in the others, and import it again.'
      : 'Then try the others again: dead retry takes their ids.';
  return [
    `To leave these rows out${all}: ${approve.replace('approve', 'cancel')}`,
    ...(others > 0 ? [again] : []),
    `Their dead letters are open again then: dead edit gives one another key, and dead drop closes it. To list them: ${list}`,
    `To create these people a second time: ${approve}`,
    `To see each pair: ${approve.replace('approve', 'show')}`,
  ];
}

/** What to type to approve a stopped run. The sandbox has a data folder of its own. */
export function approveCommand(runId: string, serviceName: string): string {
  return `patchbay runs approve ${serviceName === 'sandbox' ? '--sandbox ' : ''}${runId}`;
}

/** Nothing of such a file was written yet. */
function refuseLine(runId: string, serviceName: string): string {
  return `To refuse the file: ${approveCommand(runId, serviceName).replace('approve', 'cancel')}`;
}

function sentence(verdict: GuardVerdict): string {
  const {
    guard,
    count,
    base,
    limit,
    older,
    names = [],
    countries = [],
    unclear = 0,
    forms = [],
    others = 0,
    gone = 0,
    again = 0,
    isBehindEmpty = false,
    isLoneCard = false,
  } = verdict;
  const share = percent(base === 0 ? 1 : count / base);
  const most = `(${share}; your limit is ${percent(limit)}: guards.${guard}Max)`;
  const least = `(${share}; your limit is ${percent(limit)}: guards.${guard}Min)`;
  switch (guard) {
    case 'older':
      return `this is the file of run ${older?.runId} of ${dateOf(older?.atMs ?? 0)}, and ${count === 1 ? '1 newer file has' : `${count} newer files have`} been imported since: it would restore old values`;
    case 'strangers':
      return `none of the file's ${counted(count, 'row')} has one of the ${counted(base, 'key')} that the feed knows (guards.strangersFloor, guards.strangersRows): if they are the feed's people, every contact may be created a second time`;
    case 'unmapped':
      return unmappedSentence(names, countries);
    case 'unlinked':
      return unlinkedSentence(count, unclear, base);
    case 'keyForms':
      return forms.map((one) => formSentence(one, base)).join('; ');
    case 'takenOver':
      return `${count} of the ${counted(base, 'changed contact')} whose key is an e-mail address or phone number would become ${count === 1 ? "another person's" : "other people's"}: the rows have other names than before`;
    case 'columns':
      return `the file lacks the mapped ${count === 1 ? 'column' : 'columns'} ${listNames(names)}, which the previous file had`;
    case 'blanks':
      return `the mapped ${count === 1 ? 'column' : 'columns'} ${listNames(names)}, filled in half or more of the rows of ${isBehindEmpty ? 'the last file that had any' : 'the previous file'}, ${count === 1 ? 'has' : 'have'} lost the values: filled in less than a third as many now`;
    case 'rows':
      return `the file has ${count} ${count === 1 ? 'row' : 'rows'}, and the previous file had ${base} ${least}`;
    case 'keys':
      return `the file has ${count} of the ${counted(base, 'key')} of the previous file ${least}`;
    case 'updates':
      if (isLoneCard)
        return `the file holds one card alone, and would change ${goneWords(gone)}, since a full file says that all others have left`;
      return gone === 0
        ? `the file changes ${count} of its ${counted(base, 'known contact')} ${most}`
        : `the run changes ${count - gone} of the file's ${counted(base, 'known contact')}, and ${goneWords(gone)} ${most}`;
    case 'creates':
      if (again > 0)
        return `the run makes ${counted(count, 'contact')}, ${again} of them again, and the feed knows ${base} ${most}`;
      return `the file adds ${counted(count, 'contact')} to the ${base} that the feed knows ${most}`;
    case 'clears':
      if (base === 0)
        return `the file clears or removes ${counted(count, 'value')}${gone === 0 ? '' : ` of ${goneWords(gone)}`}, and has none of the contacts that the feed knows (your limit is ${percent(limit)}: guards.clearsMax)`;
      return others === 0
        ? `the file clears or removes ${counted(count, 'value')} of its ${counted(base, 'known contact')}${gone === 0 ? '' : `, also of ${goneWords(gone)}`} ${most}`
        : `the file clears or removes ${counted(count, 'value')} of ${counted(base, 'contact')} that ${base === 1 ? 'is' : 'are'} there, ${others} of them from people or other feeds, since the mapping lets it win (items: all, policy: source) ${most}`;
    case 'dead':
      return `${count} of ${counted(base, 'row')} ${count === 1 ? 'is' : 'are'} rejected ${most}`;
    case 'losses':
      return `${count} of ${counted(base, 'row')} would lose a value that cannot be read, such as a phone number without its country ${most}`;
    default:
      return unreachable(guard);
  }
}

function unmappedSentence(names: readonly string[], countries: readonly string[]): string {
  const others = names.filter((name) => !countries.includes(name));
  const isOne = others.length === 1;
  const ofNames = `the ${isOne ? 'column' : 'columns'} ${listNames(others)} ${isOne ? 'is not mapped, although its name suggests' : 'are not mapped, although their names suggest'} contact data`;
  return [...(others.length === 0 ? [] : [ofNames]), ...countries.map(countryLeftOut)].join('; ');
}

function goneWords(count: number): string {
  return `${counted(count, 'contact')} of people whom it no longer has`;
}

function unlinkedSentence(count: number, unclear: number, base: number): string {
  const matched = count - unclear;
  const there = 'in the workspace already, without an externalId (found by phone number or e-mail address)';
  const clear = `${matched} of the ${counted(base, 'contact')} to be created ${matched === 1 ? 'is' : 'are'} ${there}`;
  if (unclear === 0) return clear;
  const those = 'it is unclear which they are, since several rows or contacts share a phone number or e-mail address';
  if (matched === 0) return `${unclear} of the ${counted(base, 'contact')} to be created may be ${there}; ${those}`;
  return `${clear}; ${unclear} more may be, and ${those}`;
}

function dateOf(ms: number): string {
  return isoInstant(ms).slice(0, 10);
}

const comparisons: ReadonlySet<Guard> = new Set([
  ...(['older', 'strangers', 'unmapped', 'keyForms', 'takenOver', 'columns', 'blanks', 'rows', 'keys'] as const),
]);

/** The flags that let all of them pass at once; null where only `--accept` does: a percentage ends at 100 %. */
function flagsThatPass(verdicts: readonly GuardVerdict[]): string | null {
  if (verdicts.some(({ guard, isLoneCard }) => comparisons.has(guard) || isLoneCard === true)) return null;
  const percentFor = (ofDead: boolean): number =>
    Math.max(
      0,
      ...verdicts
        .filter(({ guard }) => (guard === 'dead' || guard === 'losses') === ofDead)
        .map(({ count, base }) => (base === 0 ? Number.POSITIVE_INFINITY : Math.ceil((count / base) * 100))),
    );
  const change = percentFor(false);
  const dead = percentFor(true);
  if (Math.max(change, dead) > 100) return null;
  const flags = [...(change > 0 ? [`--max-change ${change}%`] : []), ...(dead > 0 ? [`--max-dead ${dead}%`] : [])];
  return flags.join(' ');
}
