/**
 * Plays the rules over the chronicle of one key and one field, and says where nothing that the rules allow could have led
 * to what was seen.
 *
 * From outside nobody can tell at which read a row was planned, which of several rows a write belongs to, or whether an
 * answer was taken down before a process died. So the replay follows all ways at once: a *track* is one way in which things
 * may have gone so far. Each event leaves the tracks that go with it; where none is left, a rule is broken.
 */
import type { EnteredClaim, KeyEvent, Undone } from './chronicle.ts';
import type { Feed } from './commands.ts';
import type { Fate } from './fates.ts';
import type { Row } from './model.ts';
import { type Picture, valueIn } from './picture.ts';

/** What the rules say of a row's field: it ends well, it is held (`either`: that is left open), or this is to be written. */
export type Verdict<State> =
  | { readonly end: 'settled' | 'held' | 'either'; readonly state: State }
  | { readonly end: 'write'; readonly to: string };

/** The rules of one field. States are values, and equal where their JSON is. */
export interface Rule<State> {
  readonly begin: State;
  /** `shown` is null where there is no contact. A claim in doubt is resolved before. */
  judge(state: State, row: Row, shown: string | null): readonly Verdict<State>[];
  /** What a row may come to without a request. */
  judgeUnread(state: State, row: Row): readonly Verdict<State>[];
  /** The write was answered. `shown`: over what it was written. */
  written(state: State, row: Row, to: string, shown: string | null): State;
  /** The write may have landed. */
  inDoubt(state: State, row: Row, to: string, shown: string | null): State;
  /** A row is given up whose write left the field as it was. `settled`: as if the row had ended well. */
  carried(settled: State): readonly State[];
  /** What a read tells of a write in doubt. */
  resolve(state: State, shown: string | null): readonly State[];
  /** The row is given up, or overtaken: what it left in doubt is kept, or not. */
  leave(state: State, row: Row): readonly State[];
  edited(state: State, to: string): readonly State[];
  /** The feed has neither folder nor entry from now on, or has one again. */
  moved(state: State, feed: Feed, isAway: boolean): State;
  /** An undo has been at work. What feeds have said stays as it is. */
  undone(state: State, undone: Undone<string>): readonly State[];
}

interface Track<State> {
  readonly state: State;
  /** Sequences of rows that are not at their end. */
  readonly open: readonly number[];
  /** Of each feed, the newest row that reached the contact. */
  readonly newest: Readonly<Record<string, number>>;
}

export interface Replayed {
  readonly field: string;
  readonly fateOf: (row: Row) => Fate;
}

/** The feeds that are away, in one order. */
export function moved(away: readonly Feed[], feed: Feed, isAway: boolean): readonly Feed[] {
  const others = away.filter((one) => one !== feed);
  return isAway ? [...others, feed].toSorted() : others;
}

/** @returns what is wrong, in one sentence; null where everything is as the rules say. */
export function replay<State>(
  rule: Rule<State>,
  events: readonly KeyEvent[],
  { field, fateOf }: Replayed,
): string | null {
  const rows = new Map<number, Row>();
  let tracks: readonly Track<State>[] = [{ state: rule.begin, open: [], newest: {} }];

  const rowsOf = (track: Track<State>): readonly Row[] =>
    track.open.flatMap((sequence) => {
      const row = rows.get(sequence);
      return row === undefined ? [] : [row];
    });
  const isOvertaken = (track: Track<State>, row: Row): boolean => (track.newest[row.feed] ?? 0) > row.sequence;
  const without = (track: Track<State>, row: Row, state: State): Track<State> => ({
    ...track,
    state,
    open: track.open.filter((one) => one !== row.sequence),
  });
  const ended = (track: Track<State>, row: Row, state: State): Track<State> => ({
    ...without(track, row, state),
    newest: { ...track.newest, [row.feed]: Math.max(track.newest[row.feed] ?? 0, row.sequence) },
  });
  /** Where the report agrees that the row came to that end. */
  const endings = (track: Track<State>, row: Row, verdicts: readonly Verdict<State>[]): readonly Track<State>[] => {
    const { dead, skipped, held } = fateOf(row);
    if (dead !== null || skipped === 'moved' || isOvertaken(track, row)) return [];
    return verdicts.flatMap((verdict) => {
      if (verdict.end === 'write') return [];
      const isHeld = held.has(field);
      if (verdict.end !== 'either' && (verdict.end === 'held') !== (isHeld && skipped === null)) {
        // A row that a newer one overtook is listed as such, whatever it found.
        if (!(verdict.end === 'held' && skipped !== null)) return [];
      }
      return [ended(track, row, verdict.state)];
    });
  };
  /** The row is rejected, overtaken by a newer one of its feed, or skipped as moved. */
  const isGivenUp = (row: Row): boolean => {
    const { dead, skipped } = fateOf(row);
    const isNewerThere = [...rows.values()].some((one) => one.feed === row.feed && one.sequence > row.sequence);
    return dead !== null || skipped === 'moved' || (skipped === 'superseded' && isNewerThere);
  };
  /** A row that is given up ends at any moment. */
  const exits = (track: Track<State>, row: Row): readonly Track<State>[] =>
    isGivenUp(row) ? rule.leave(track.state, row).map((state) => without(track, row, state)) : [];
  const unread = (track: Track<State>, row: Row): readonly Track<State>[] => [
    ...endings(track, row, rule.judgeUnread(track.state, row)),
    ...exits(track, row),
  ];
  /** All tracks that those lead to, themselves included. */
  const spread = (
    from: readonly Track<State>[],
    step: (track: Track<State>, row: Row) => readonly Track<State>[],
  ): readonly Track<State>[] => {
    const found = new Map<string, Track<State>>();
    const waiting = [...from];
    // Ends: each step takes a row off the open ones.
    for (let track = waiting.pop(); track !== undefined; track = waiting.pop()) {
      const name = JSON.stringify(track);
      if (found.has(name)) continue;
      found.set(name, track);
      for (const row of rowsOf(track)) waiting.push(...step(track, row));
    }
    return [...found.values()];
  };

  const read = (track: Track<State>, row: Row, shown: string | null): readonly Track<State>[] => [
    ...rule.resolve(track.state, shown).flatMap((state) => endings(track, row, rule.judge(state, row, shown))),
    // What the read tells of a write in doubt may be taken down, and the row put off before anything is sent again.
    ...rule.resolve(track.state, shown).map((state) => ({ ...track, state })),
    ...unread(track, row),
  ];
  const write = (
    track: Track<State>,
    { shown, to, end }: { shown: string | null; to: string; end: (KeyEvent & { kind: 'write' })['end'] },
  ): readonly Track<State>[] =>
    rowsOf(track).flatMap((row) => {
      if (isOvertaken(track, row)) return [];
      return rule.resolve(track.state, shown).flatMap((state): readonly Track<State>[] => {
        const isRight = rule.judge(state, row, shown).some((one) => one.end === 'write' && one.to === to);
        if (!isRight) return [];
        const inDoubt = { ...track, state: rule.inDoubt(state, row, to, shown) };
        if (end === 'doubt') return [inDoubt];
        if (end !== 'done') return [{ ...track, state }];
        const { dead } = fateOf(row);
        // The answer came, and perhaps the process died before it was taken down.
        if (dead === null) return [ended(track, row, rule.written(state, row, to, shown)), inDoubt];
        // It did not match in another field, and the row is rejected: it told all the same what has landed in this one.
        return [inDoubt, ...rule.resolve(inDoubt.state, to).map((one) => ({ ...track, state: one }))];
      });
    });

  /**
   * A write left the field as it was shown: it may count as said, although its row is given up ("What moves them"). A row that
   * ends well has settled it where it was read.
   */
  const carried = (track: Track<State>, shown: string): readonly Track<State>[] =>
    rowsOf(track)
      .filter((row) => isGivenUp(row) && !isOvertaken(track, row))
      .flatMap((row) =>
        rule
          .judge(track.state, row, shown)
          .flatMap((verdict) => (verdict.end === 'settled' ? rule.carried(verdict.state) : []))
          .map((state) => ({ ...track, state })),
      );

  /** What people have put there since Patchbay's last write of the field. */
  const typed = new Set<string>();
  /**
   * The write of a claim was never sent, and people typed in what it claims: no read can tell that from a write that landed, and it
   * is taken for one ("One contact per key", step 6). A claim that the rules do not lead to changes nothing.
   */
  const takenForLanded = (
    track: Track<State>,
    { runId, from, to }: EnteredClaim,
    shown: string | null,
  ): readonly Track<State>[] => {
    const sent = to.get(field);
    if (sent === undefined || shown === null || !typed.has(shown)) return [];
    const before = from === null ? null : valueIn(from, field);
    return [...rows.values()]
      .filter((row) => row.runId === runId && !isOvertaken(track, row))
      .filter((row) => track.open.includes(row.sequence) || isGivenUp(row))
      .flatMap((row) =>
        rule.resolve(track.state, before).flatMap((state) => {
          const isRight = rule.judge(state, row, before).some((one) => one.end === 'write' && one.to === sent);
          return isRight ? rule.resolve(rule.inDoubt(state, row, sent, before), shown) : [];
        }),
      )
      .map((state) => ({ ...track, state }));
  };

  const away = new Set<Feed>();
  const begin = (): State => [...away].reduce((state, feed) => rule.moved(state, feed, true), rule.begin);

  for (const event of events) {
    const before = spread(tracks, unread);
    tracks = before;
    switch (event.kind) {
      case 'row':
        rows.set(event.row.sequence, event.row);
        tracks = tracks.map((track) => ({ ...track, open: [...track.open, event.row.sequence] }));
        break;
      case 'read': {
        const { claim } = event;
        const shown = event.shown === null ? null : valueIn(event.shown, field);
        if (claim !== undefined)
          tracks = [...tracks, ...tracks.flatMap((track) => takenForLanded(track, claim, shown))];
        tracks = spread(tracks, (track, row) => read(track, row, shown));
        break;
      }
      case 'write': {
        const shown = event.shown === null ? null : valueIn(event.shown, field);
        const to = valueIn(event.sent, field);
        if (shown === to && (event.end === 'done' || event.end === 'doubt'))
          tracks = [...tracks, ...tracks.flatMap((track) => carried(track, shown))];
        if ((shown ?? '') === to) break;
        if (event.end === 'done') typed.clear();
        tracks = tracks.flatMap((track) => write(track, { shown, to, end: event.end }));
        if (tracks.length === 0)
          return `${field} was ${shown === null ? 'created as' : `"${shown}", and Patchbay wrote`} "${to}" (${event.end}); by the rules ${words(before)}`;
        break;
      }
      case 'feed': {
        const { feed, isAway } = event;
        if (isAway) away.add(feed);
        else away.delete(feed);
        tracks = tracks.map((track) => ({ ...track, state: rule.moved(track.state, feed, isAway) }));
        break;
      }
      case 'gone':
        typed.clear();
        tracks = tracks.map((track) => ({ ...track, state: begin() }));
        break;
      case 'edit': {
        const to = valueIn(event.to, field);
        if (valueIn(event.from, field) === to) break;
        typed.add(to);
        tracks = tracks.flatMap((track) => rule.edited(track.state, to).map((state) => ({ ...track, state })));
        break;
      }
      case 'undone': {
        const of = (picture: Picture | null): string | null => (picture === null ? null : valueIn(picture, field));
        const { from, to, before: was, left } = event;
        typed.clear();
        const undone = { ...event, from: of(from), to: of(to), before: of(was), left: of(left) };
        tracks = tracks.flatMap((track) => rule.undone(track.state, undone).map((state) => ({ ...track, state })));
        break;
      }
      case 'rest': {
        const isOver = (sequence: number): boolean => rows.get(sequence)?.runId !== event.runId;
        tracks = spread(tracks, unread).filter((track) => track.open.every(isOver));
        if (tracks.length === 0) {
          const row = [...rows.values()].find((one) => one.runId === event.runId);
          return `${field}: the row of line ${row?.line} of ${row?.feed} (number ${row?.sequence}) has ended${fateWords(row)}, and its ${field} is neither written nor held nor passed over; by the rules ${words(before)}`;
        }
        break;
      }
    }
  }
  return null;

  function words(all: readonly Track<State>[]): string {
    const told = all
      .slice(0, 3)
      .map(({ state, open }) => `${JSON.stringify(state)} with rows ${open.join(', ') || 'none'} to do`);
    const said = [...rows.values()].map((row) => `${row.sequence} ${row.feed} ${JSON.stringify(row.cells)}`);
    return `it may be ${told.join(' or ')}${all.length > 3 ? ` or ${all.length - 3} more` : ''}; rows: ${said.join(', ')}`;
  }

  function fateWords(row: Row | undefined): string {
    if (row === undefined) return '';
    const { dead, skipped, held } = fateOf(row);
    if (dead !== null) return ` dead of ${dead}`;
    if (skipped !== null) return ` as ${skipped}`;
    return held.size === 0 ? '' : ` with ${[...held].join(', ')} held`;
  }
}
