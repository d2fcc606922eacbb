/**
 * The life of one worker process, and ports that know of it.
 *
 * A *crash* is armed for the n-th effect from now, before or after it. From then on no call is answered, and nothing more
 * is sent: as with a killed process, what had reached the service or the ledger by then stays done.
 */
import type { CallOptions, Workspace } from '#src/workspace/port.ts';

export type Tell = (name: string, given: readonly unknown[], answer: unknown) => void;

export type Moment = 'before' | 'after';

export interface Life {
  readonly isOver: () => boolean;
  /** Resolves when it is over. */
  readonly over: Promise<void>;
  /** Ends at the n-th effect from now. */
  endAt(effect: number, moment: Moment): void;
  /** Before the n-th effect from now somebody else does something. */
  interruptAt(effect: number, work: () => Promise<void>): void;
  /** Around each effect. Never settles once the life is over. */
  effect<Result>(name: string, given: readonly unknown[], work: () => Promise<Result>): Promise<Result>;
  /** At the end of the story: what still waits for an answer is told that there is none, so that it closes its files. */
  bury(): void;
  /** Thrown where something would leave a process that is no more. */
  assertAlive(): void;
  /** All that was on its way when it ended has arrived. */
  quiet(): Promise<void>;
}

/** `tell` is told of each effect: its name, what was given, what came of it. */
export function startLife(tell: Tell | null): Life {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  let armed: { effectsLeft: number; readonly moment: Moment } | null = null;
  let interruption: { effectsLeft: number; readonly work: () => Promise<void> } | null = null;
  const inFlight = new Set<Promise<unknown>>();
  const unanswered = new Set<(reason: Error) => void>();
  let isBuried = false;
  const never = <Result>(): Promise<Result> =>
    new Promise<Result>((_, reject) => {
      if (isBuried) reject(noMore());
      else unanswered.add(reject);
    });
  const end = (): void => {
    isOver = true;
    resolve();
  };
  return {
    isOver: () => isOver,
    over,
    endAt: (effect, moment) => {
      armed = { effectsLeft: effect, moment };
    },
    interruptAt: (effect, work) => {
      interruption = { effectsLeft: effect, work };
    },
    effect: async (name, given, work) => {
      if (isOver) return never();
      if (interruption !== null && interruption.effectsLeft-- === 0) {
        const { work: interrupt } = interruption;
        interruption = null;
        await interrupt();
      }
      let endsHere = false;
      if (armed !== null) {
        endsHere = armed.effectsLeft === 0;
        armed.effectsLeft -= 1;
        if (endsHere && armed.moment === 'before') {
          end();
          return never();
        }
      }
      const result = work();
      const settled = result.then(
        () => {},
        () => {},
      );
      inFlight.add(settled);
      await settled;
      inFlight.delete(settled);
      if (tell !== null)
        await result.then(
          (answer) => tell(name, given, answer),
          (error) => tell(name, given, error),
        );
      if (endsHere) end();
      return isOver ? never() : result;
    },
    assertAlive: () => {
      if (isOver) throw noMore();
    },
    bury: () => {
      end();
      isBuried = true;
      for (const reject of unanswered) reject(noMore());
      unanswered.clear();
    },
    quiet: async () => {
      await Promise.all(inFlight);
    },
  };
}

const noMore = (): DOMException => new DOMException('the process is no more', 'AbortError');

/** The same object, each call of it an effect of that life; parts of it likewise. */
export function mortal<Port extends object>(port: Port, life: Life): Port {
  return new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member === 'function')
        return (...given: unknown[]) =>
          alsoBitByBit(life.effect(String(name), given, async () => Reflect.apply(member, target, given)));
      return typeof member === 'object' && member !== null ? mortal(member, life) : member;
    },
  });
}

/** What a port answers bit by bit is read from the answer itself: all of it is one effect. */
function alsoBitByBit(answer: Promise<unknown>): Promise<unknown> & AsyncIterable<unknown> {
  const bits = async function* (): AsyncGenerator<unknown> {
    const all = await answer;
    // The cast holds: the answer of a port that has this member is one that is read bit by bit.
    if (typeof all === 'object' && all !== null && Symbol.asyncIterator in all) yield* all as AsyncIterable<unknown>;
  };
  return Object.assign(answer, { [Symbol.asyncIterator]: bits });
}

/** A request of a process that ended while it waited in line is not sent. */
export function mortalWorkspace(workspace: Workspace, life: Life): Workspace {
  const checked = (options: CallOptions = {}): CallOptions => ({
    ...options,
    beforeSend: async () => {
      life.assertAlive();
      await options.beforeSend?.();
      life.assertAlive();
    },
  });
  return {
    ...workspace,
    listByExternalIds: (keys, options) =>
      life.effect('listByExternalIds', [keys], () => workspace.listByExternalIds(keys, checked(options))),
    getContact: (id, options) => life.effect('getContact', [id], () => workspace.getContact(id, checked(options))),
    createContact: (body, options) =>
      life.effect('createContact', [body], () => workspace.createContact(body, checked(options))),
    updateContact: (id, body, options) =>
      life.effect('updateContact', [id, body], () => workspace.updateContact(id, body, checked(options))),
    deleteContact: (id, options) =>
      life.effect('deleteContact', [id], () => workspace.deleteContact(id, checked(options))),
  };
}
