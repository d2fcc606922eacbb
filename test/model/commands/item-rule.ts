/** The rules of one e-mail address or phone number ("Three pictures, one plan": items belong to every feed that names them). */
import { type Column, columnsOf, type Feed, feeds } from './commands.ts';
import type { Row } from './model.ts';
import { there } from './picture.ts';
import { moved, type Rule, type Verdict } from './replay.ts';

/** By column: whether it names the item. */
type Naming = Readonly<Partial<Record<Column, boolean>>>;

interface ItemState {
  /** What the feed's file said last of it and had settled, column by column: a blank one keeps what it said. */
  readonly said: Readonly<Partial<Record<Feed, Naming>>>;
  /** Patchbay put it there; people did otherwise. */
  readonly isOurs: boolean;
  /** By feed: whether it was Patchbay's when a run of the feed, or an undo of one, took it away last. */
  readonly taken: Readonly<Partial<Record<Feed, boolean>>>;
  /** A named feed has named it: `main` has given it up, so that what `main` said of it may count for nothing. */
  readonly isGivenUp: boolean;
  /** Feeds that are away: nothing is theirs, and what they said counts all the same. */
  readonly away: readonly Feed[];
  /** A write that may have landed. */
  readonly claim: { readonly row: number; readonly feed: Feed; readonly said: Naming; readonly sent: string } | null;
}

const names = (naming: Naming | undefined): boolean => Object.values(naming ?? {}).includes(true);

/** `identity`: the address in lower case, or the number. */
export function itemRule(kind: 'email' | 'phone', identity: string): Rule<ItemState> {
  /** What the feed says with this row. */
  const sayingOf = (state: ItemState, { feed, cells }: Row): Naming => {
    const columns = columnsOf[feed].filter((column) => column.startsWith(kind));
    const spoken = columns.flatMap((column) => {
      const cell = cells[column];
      return cell === undefined ? [] : [[column, cell.toLowerCase() === identity] as const];
    });
    return { ...state.said[feed], ...Object.fromEntries(spoken) };
  };
  const settled = (state: ItemState, row: Row): ItemState => {
    const saying = sayingOf(state, row);
    const isGivenUp = state.isGivenUp || (row.feed !== 'main' && names(saying));
    return { ...state, said: { ...state.said, [row.feed]: saying }, isGivenUp };
  };

  const takenFrom = (state: ItemState, feed: Feed, to: string): ItemState['taken'] =>
    to === there ? state.taken : { ...state.taken, [feed]: state.isOurs };

  /** What a write has removed, feeds that are away do not say any more: their next row that names it adds it. */
  const givenUp = (state: ItemState, to: string): ItemState => {
    if (to === there) return state;
    const away = state.away.flatMap((feed) => {
      const naming = Object.keys(state.said[feed] ?? {}).map((column) => [column, false] as const);
      return naming.length === 0 ? [] : [[feed, Object.fromEntries(naming)] as const];
    });
    return { ...state, said: { ...state.said, ...Object.fromEntries(away) } };
  };

  const judge = (state: ItemState, row: Row, shown: string | null): readonly Verdict<ItemState>[] => {
    const isNamed = names(sayingOf(state, row));
    const kept: Verdict<ItemState> = { end: 'settled', state: settled(state, row) };
    if (shown === null) return isNamed ? [{ end: 'write', to: there }] : [kept];
    const was = names(state.said[row.feed]);
    const others = feeds.filter((feed) => feed !== row.feed && names(state.said[feed]));
    const isOfMain = row.feed === 'main' && state.isGivenUp;
    const isForMain = others.every((feed) => feed === 'main');
    if (isNamed) {
      const add: Verdict<ItemState> = { end: 'write', to: there };
      if (shown === there) return [kept];
      // Said before, by whichever feed, and removed by people: not put back.
      if (was) return isOfMain && others.length === 0 ? [kept, add] : [kept];
      if (others.length === 0) return [add];
      return isForMain ? [kept, add] : [kept];
    }
    if (shown !== there || !state.isOurs || !was) return [kept];
    const remove: Verdict<ItemState> = { end: 'write', to: '' };
    const owners = others.filter((feed) => !state.away.includes(feed));
    if (owners.length > 0) return owners.every((feed) => feed === 'main') ? [kept, remove] : [kept];
    return isOfMain ? [remove, kept] : [remove];
  };

  return {
    begin: { said: {}, isOurs: false, taken: {}, isGivenUp: false, away: [], claim: null },
    judge,
    judgeUnread: (state, row) => {
      const saying = sayingOf(state, row);
      const isSame = names(saying) === names(state.said[row.feed]);
      return isSame ? [{ end: 'settled', state: settled(state, row) }] : [];
    },
    written: (state, row, to) => ({
      ...givenUp(settled(state, row), to),
      ...{ isOurs: to === there, taken: takenFrom(state, row.feed, to), claim: null },
    }),
    inDoubt: (state, row, to) => ({
      ...state,
      claim: { row: row.sequence, feed: row.feed, said: sayingOf(state, row), sent: to },
    }),
    // What the column names is there: it is said, though the rest of the row is to be done again.
    carried: (said) => [said],
    resolve: (state, shown) => {
      const { claim } = state;
      if (claim === null) return [state];
      if (shown !== claim.sent) return [{ ...state, claim: null }];
      const said = { ...state.said, [claim.feed]: claim.said };
      const isGivenUp = state.isGivenUp || (claim.feed !== 'main' && names(claim.said));
      const taken = takenFrom(state, claim.feed, claim.sent);
      const landed = { ...state, said, isOurs: claim.sent === there, taken, isGivenUp, claim: null };
      // Whether a feed was away when it landed, or is when that is found, counts is left open.
      return claim.sent === there ? [landed] : [landed, givenUp(landed, claim.sent)];
    },
    leave: (state, row) => (state.claim?.row === row.sequence ? [state, { ...state, claim: null }] : [state]),
    moved: (state, feed, isAway) => ({ ...state, away: moved(state.away, feed, isAway) }),
    // What is put back is Patchbay's where it was.
    undone: (state, { from, to, feed }) => {
      if (to === null || from === to) return [state];
      const isOurs = to === there && (from === null || state.taken[feed] === true);
      return [{ ...state, isOurs, taken: takenFrom(state, feed, to) }];
    },
    // What was ours, and came back by hand, may count as people's.
    edited: (state, to) => (to === there && state.isOurs ? [state, { ...state, isOurs: false }] : [state]),
  };
}
