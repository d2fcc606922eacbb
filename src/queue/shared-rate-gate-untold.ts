/**
 * What a process has to tell the shared rate gate while Redis may be away: a message that did not arrive is told again
 * before the next question, so that who passes next is counted after it.
 *
 * Telling never fails and nobody waits for it.
 */
import type { Clock } from '#src/clock.ts';

export interface Untold {
  /** `send` may be called again, and then says what is true by then. It rejects where the message did not arrive. */
  tell(send: () => Promise<void>): void;
  /** Tells once more what did not arrive. */
  tellAll(): void;
}

/** Later it changes nothing any more. */
const keptMs = 60_000;
const messagesMax = 1_000;

interface Message {
  readonly send: () => Promise<void>;
  readonly untilMs: number;
}

export function createUntold(clock: Clock): Untold {
  const messages: Message[] = [];
  const tell = (message: Message): void => {
    message.send().catch(() => {
      messages.push(message);
      if (messages.length > messagesMax) messages.shift();
    });
  };
  return {
    tell: (send) => tell({ send, untilMs: clock.monotonicMs() + keptMs }),
    tellAll: () => {
      for (const message of messages.splice(0)) if (clock.monotonicMs() < message.untilMs) tell(message);
    },
  };
}
