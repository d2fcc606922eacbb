/**
 * The rules of a field that holds one value ("Three pictures, one plan", "One contact per key" step 6, and the order
 * between feeds): scalars and custom fields.
 */

import type { FieldPolicy } from '#src/contacts/policies.ts';
import { type Column, type Feed, feeds } from './commands.ts';
import type { Row } from './model.ts';
import { moved, type Rule, type Verdict } from './replay.ts';

type PerFeed<Value> = Readonly<Partial<Record<Feed, Value>>>;

interface ValueState {
  /** What the feed's file said last and had settled. */
  readonly said: PerFeed<string>;
  /** What file and app last agreed on: for every feed where it was written, for one where it was found equal. */
  readonly agreed: PerFeed<string>;
  /**
   * Of feeds whose file and app differ, what the file said last: until the file says what the app holds, or what it said before; or until a
   * row finds that the app holds what the file had said.
   */
  readonly held: PerFeed<string>;
  /** The newest row by which a feed changed the field, and had it settled. */
  readonly changed: PerFeed<number>;
  /** Feeds that agreed on a value since their file said it, and for which it was not written. */
  readonly found: PerFeed<true>;
  /** What Patchbay wrote last. Any other value that is there is people's, also one that a file names and both agree on. */
  readonly wrote: string;
  /** By feed: who had agreed on the value that a run of the feed, or an undo of one, wrote over last. */
  readonly over: PerFeed<readonly Feed[]>;
  /** Feeds that are away: no custom field is theirs. */
  readonly away: readonly Feed[];
  /** A write that may have landed. */
  readonly claim: {
    readonly row: number;
    readonly feed: Feed;
    readonly said: string;
    readonly sent: string;
    /** What it takes the place of; null where there was no contact. */
    readonly from: string | null;
    readonly over: readonly Feed[];
  } | null;
}

const isAway = ({ away }: Pick<ValueState, 'away'>, feed: string): boolean => away.some((one) => one === feed);

const fold = (value: string): string => value.trim().toLowerCase();

/** `isCustom`: `#CLEAR` removes only what Patchbay wrote and no other feed still says. Its policy is `shared`. */
export function valueRule(column: Column, isCustom: boolean, policy: FieldPolicy = 'shared'): Rule<ValueState> {
  const saysOf = (row: Row): string | undefined => row.cells[column];

  const settled = (state: ValueState, row: Row, agreed: Partial<ValueState> = {}): ValueState => {
    const ours = saysOf(row);
    if (ours === undefined) return { ...state, ...agreed };
    const { [row.feed]: _, ...held } = state.held;
    const isChange = ours !== state.said[row.feed];
    return {
      ...state,
      said: { ...state.said, [row.feed]: ours },
      changed: isChange ? { ...state.changed, [row.feed]: row.sequence } : state.changed,
      held,
      ...agreed,
    };
  };
  const agreedByAll = (value: string): PerFeed<string> => Object.fromEntries(feeds.map((feed) => [feed, value]));
  const foundEqual = (state: ValueState, row: Row, shown: string): ValueState =>
    settled(state, row, {
      agreed: { ...state.agreed, [row.feed]: shown },
      found: state.agreed[row.feed] === shown ? state.found : { ...state.found, [row.feed]: true },
    });
  /** Who had agreed on what a write takes the place of. Where it was written, all had; where it was found, those whose file said it. */
  const agreeing = (state: ValueState, shown: string | null): readonly Feed[] => {
    if (shown === null) return feeds;
    return feeds.filter(
      (feed) =>
        (state.agreed[feed] ?? '') === shown && (!state.found[feed] || fold(state.said[feed] ?? '') === fold(shown)),
    );
  };

  /** An entry that a write has removed, feeds that are away do not say any more: their next row that names it adds it. */
  const givenUp = (state: ValueState, from: string | null, to: string): ValueState => {
    if (!isCustom || from === null || to !== '') return state;
    const left = Object.entries(state.said).filter(([feed, said]) => said !== from || !isAway(state, feed));
    return { ...state, said: Object.fromEntries(left) };
  };

  /** Where people have accepted since what the file said, both sides agree on that. */
  const withHoldEnded = (state: ValueState, feed: Feed, shown: string | null): ValueState => {
    if (shown === null || state.held[feed] !== shown) return state;
    const { [feed]: _, ...held } = state.held;
    const also = <Value>(all: PerFeed<Value>, value: Value): PerFeed<Value> => ({ ...all, [feed]: value });
    const { said, agreed, found } = state;
    return { ...state, held, said: also(said, shown), agreed: also(agreed, shown), found: also(found, true) };
  };

  const judge = (before: ValueState, row: Row, shown: string | null): readonly Verdict<ValueState>[] => {
    const { feed, sequence } = row;
    const ours = saysOf(row);
    if (ours === undefined) return [{ end: 'either', state: before }];
    const state = withHoldEnded(before, feed, shown);
    // No contact: the row makes one, and sends nothing for a field that it clears.
    if (shown === null && ours !== '') return [{ end: 'write', to: ours }];
    if (shown === null) return [{ end: 'settled', state: foundEqual(state, row, '') }];
    if (ours === shown) return [{ end: 'settled', state: foundEqual(state, row, shown) }];
    const kept: Verdict<ValueState> = { end: 'settled', state: settled(state, row) };
    const hold: Verdict<ValueState> = { end: 'held', state: { ...state, held: { ...state.held, [feed]: ours } } };
    const said = state.said[feed];
    if (policy !== 'shared') return judgeByPolicy(state, row, shown, ours);
    if (ours === said) return [kept];
    const isPassed = feeds.some((other) => other !== feed && (state.changed[other] ?? 0) > sequence);
    if (isPassed) return [kept, hold];
    if (state.held[feed] !== undefined) return [hold];
    const agreed = state.agreed[feed];
    const alike: readonly Verdict<ValueState>[] =
      fold(ours) === fold(shown) ? [{ end: 'settled', state: foundEqual(state, row, shown) }] : [];
    // A clear that removes nothing is no change of the feed's: an older file of another feed is not behind it.
    const untouched: Verdict<ValueState> = { ...kept, state: { ...kept.state, changed: state.changed } };
    // There is nothing of ours to remove: whether that is worth a person's look is left open.
    if (isCustom && ours === '' && agreed !== shown) return [untouched, hold];
    if (agreed === undefined) return shown === '' ? [{ end: 'write', to: ours }] : alike.length > 0 ? alike : [hold];
    if (agreed !== shown) return [hold, ...alike];
    if (isCustom) return judgeEntry(state, row, shown, ours, untouched, hold);
    return [{ end: 'write', to: ours }];
  };

  /** By the other policies ("Policies"): nothing is held, and a value that is left alone is no change of the feed's. */
  const judgeByPolicy = (state: ValueState, row: Row, shown: string, ours: string): readonly Verdict<ValueState>[] => {
    const { feed, sequence } = row;
    const { [feed]: _, ...held } = state.held;
    const kept: Verdict<ValueState> = {
      end: 'settled',
      state: { ...state, held, said: { ...state.said, [feed]: ours } },
    };
    const write: Verdict<ValueState> = { end: 'write', to: ours };
    const isRepeated = ours === state.said[feed];
    const changes = feeds.map((other) => ({ other, at: state.changed[other] ?? 0 }));
    const isPassed = !isRepeated && changes.some(({ other, at }) => other !== feed && at > sequence);
    const isOthers = isRepeated && changes.some(({ other, at }) => other !== feed && at > (state.changed[feed] ?? 0));
    const agreed = state.agreed[feed];
    if (isPassed || (isOthers && policy !== 'seed')) return [kept];
    switch (policy) {
      case 'source':
        return isRepeated && agreed === shown && fold(ours) === fold(shown) ? [kept] : [write];
      case 'fill':
        return [shown === '' && !isRepeated ? write : kept];
      case 'app':
        return [!isRepeated && shown === (agreed ?? '') ? write : kept];
      default:
        return [kept];
    }
  };

  /** The entry of a custom field that file and app agree on belongs to every feed that names it, or to people. */
  const judgeEntry = (
    state: ValueState,
    { feed }: Row,
    shown: string,
    ours: string,
    kept: Verdict<ValueState>,
    hold: Verdict<ValueState>,
  ): readonly Verdict<ValueState>[] => {
    const write: Verdict<ValueState> = { end: 'write', to: ours };
    const owners = feeds.filter((other) => other !== feed && !state.away.includes(other));
    const isNamed = owners.some((other) => state.said[other] === shown);
    const isOurs = state.wrote === shown;
    if (ours !== '') return [write];
    if (isNamed || !isOurs) return state.said[feed] === shown && isOurs ? [kept] : [kept, hold];
    return state.said[feed] === shown ? [write] : [write, kept];
  };

  return {
    begin: { said: {}, agreed: {}, held: {}, changed: {}, found: {}, wrote: '', over: {}, away: [], claim: null },
    judge,
    judgeUnread: (state, row) => {
      const ours = saysOf(row);
      if (ours === undefined) return [{ end: 'either', state }];
      if (ours === state.said[row.feed]) return [{ end: 'settled', state: settled(state, row) }];
      return state.held[row.feed] === undefined ? [] : [{ end: 'held', state }];
    },
    written: (state, row, to, shown) => {
      const over = { ...state.over, [row.feed]: agreeing(withHoldEnded(state, row.feed, shown), shown) };
      const after = settled(state, row, { agreed: agreedByAll(to), found: {}, over });
      // What is written over people's change, or where there was nothing, is a change of the feed's, new in its file or not.
      const changed = policy === 'shared' ? after.changed : { ...after.changed, [row.feed]: row.sequence };
      return givenUp({ ...after, changed, wrote: to, claim: null }, shown, to);
    },
    inDoubt: (state, row, to, shown) => ({
      ...state,
      claim: {
        ...{ row: row.sequence, feed: row.feed, said: saysOf(row) ?? '', sent: to, from: shown },
        over: agreeing(withHoldEnded(state, row.feed, shown), shown),
      },
    }),
    // Only a value that the write changed is said of such a row.
    carried: () => [],
    resolve: (state, shown) => {
      const { claim } = state;
      if (claim === null) return [state];
      const none = { ...state, claim: null };
      if (shown === null || shown === state.agreed[claim.feed]) return [none];
      if (fold(shown) !== fold(claim.sent)) return [none];
      const { [claim.feed]: _, ...held } = state.held;
      const landed = {
        ...none,
        agreed: agreedByAll(shown),
        found: {},
        over: { ...state.over, [claim.feed]: claim.over },
        said: { ...state.said, [claim.feed]: claim.said },
        changed: { ...state.changed, [claim.feed]: Math.max(state.changed[claim.feed] ?? 0, claim.row) },
        wrote: shown,
        held,
      };
      const left = givenUp(landed, claim.from, claim.sent);
      // Whether a feed was away when it landed, or is when that is found, counts is left open.
      return left === landed ? [landed] : [landed, left];
    },
    leave: (state, row) => (state.claim?.row === row.sequence ? [state, { ...state, claim: null }] : [state]),
    // What Patchbay wrote, and people had away and typed in again, may count as theirs.
    edited: (state, to) => (to !== '' && to === state.wrote ? [state, { ...state, wrote: '' }] : [state]),
    moved: (state, feed, isAway) => ({ ...state, away: moved(state.away, feed, isAway) }),
    undone: (state, { from, to, before, left, feed, sequence }) => {
      if (to === null) return [state];
      const over = { ...state.over, [feed]: agreeing(state, from) };
      const forAll = { ...state, agreed: agreedByAll(to), found: {}, wrote: to, over };
      // What is found as it was before the run, or is empty in a contact that is made again: whether both sides agree on it is left open.
      if (from === to) return before === to && left !== to ? [state, forAll] : [state];
      if (from === null && to === '') return [state, { ...forAll, wrote: state.wrote }];
      const whose = from === null ? feeds : (state.over[feed] ?? feeds);
      // What people had put there is theirs again, but for those who had agreed on it. A feed that never spoke of it had no part in it.
      const againFor = (some: readonly Feed[]): ValueState => ({
        ...{ ...state, over, wrote: '' },
        agreed: { ...state.agreed, ...Object.fromEntries(some.map((one) => [one, to])) },
        found: { ...state.found, ...Object.fromEntries(some.map((one) => [one, true])) },
      });
      const speaking = whose.filter((one) => state.said[one] !== undefined);
      const moved = whose.length === feeds.length ? [forAll] : [againFor(whose), againFor(speaking)];
      // Whether it counts as a change of the feed's matters to the other policies alone, where the newest row is passed by one.
      if (policy === 'shared') return moved;
      return moved.flatMap((one) => [one, { ...one, changed: { ...state.changed, [feed]: sequence } }]);
    },
  };
}
