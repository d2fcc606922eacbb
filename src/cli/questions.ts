/** Questions to the person at the terminal: whether a decision stands, and why. stdout is data, so that they go to stderr. */
import { createInterface } from 'node:readline';
import type { GlobalOptions } from './open-home.ts';

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Null without a terminal, or where `--yes` has answered already. */
export function terminalOf({ json, yes }: GlobalOptions): Terminal | null {
  if (json === true || yes === true || process.stdin.isTTY !== true || process.stderr.isTTY !== true) return null;
  return { input: process.stdin, output: process.stderr };
}

/** What is asked where no reason was given. By where the reason is found later; an empty answer is none. */
export const whyQuestions = {
  report: 'Why? Recorded in the report (Enter: no reason)',
  acts: 'Why? logs --acts shows it (Enter: no reason)',
} as const;

export interface Question {
  /** What will happen. */
  readonly shown: string;
  /** To be answered with yes or no. */
  readonly question: string;
  readonly whyQuestion: string;
  /** The reason that was given: none is asked for then. */
  readonly given?: string | undefined;
}

export interface Decision {
  readonly isYes: boolean;
  /** Null of a no, and where there is none. */
  readonly why: string | null;
}

/**
 * Shows what will happen, asks whether to do it, and after a yes why. Anything but yes is no, and so is the end of the input. Without a
 * terminal it is a yes.
 */
export async function askDecision(terminal: Terminal | null, asked: Question): Promise<Decision> {
  const { shown, question, whyQuestion, given } = asked;
  if (terminal === null) return { isYes: true, why: given ?? null };
  return withQuestions(terminal, async (ask) => {
    terminal.output.write(`${shown}\n`);
    const isYes = /^y(es)?$/i.test(await ask(`${question} [y/N]`));
    if (!isYes) return { isYes, why: null };
    return { isYes, why: given ?? ((await ask(whyQuestion)) || null) };
  });
}

/** Asks why, where no reason was given. Null where there is none, and without a terminal. */
export async function askWhy(
  terminal: Terminal | null,
  whyQuestion: string,
  given: string | undefined,
): Promise<string | null> {
  if (terminal === null || given !== undefined) return given ?? null;
  return withQuestions(terminal, async (ask) => (await ask(whyQuestion)) || null);
}

type Ask = (text: string) => Promise<string>;

/** The terminal edits the line by itself; Ctrl-C ends the process, and nothing has happened yet. */
async function withQuestions<Answer>(
  { input, output }: Terminal,
  work: (ask: Ask) => Promise<Answer>,
): Promise<Answer> {
  const reader = createInterface({ input, terminal: false });
  // One for all questions: lines that arrive together are not lost.
  const lines = reader[Symbol.asyncIterator]();
  try {
    return await work(async (text) => {
      output.write(`${text} `);
      const { value, done } = await lines.next();
      return done === true ? '' : value.trim();
    });
  } finally {
    reader.close();
  }
}
