/** What a command says of work that it hands over to a running engine: which settings that decide about it the engine follows otherwise. */
import type { Home } from '#src/app.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { unlessAway } from '#src/ledger/wait-out.ts';
import { besideEngine } from '#src/operations/engine-here.ts';
import { apartText, type WorkAtHand, workOf } from '#src/operations/followed-settings.ts';
import { detachedDocument } from '#src/operations/run-document.ts';
import type { RunDetail } from '#src/operations/runs.ts';
import { type Output, printable } from './output.ts';

/** Says it, each sentence once, and gives it back for the documents of the work. */
export interface HandedOver {
  run(run: RunRecord): readonly string[];
  work(about: WorkAtHand): readonly string[];
}

/** Nothing is said where no engine runs on this data folder, nor while the ledger is away. @param note as that of `Output`. */
export async function openHandedOver(home: Home, note: (text: string) => void): Promise<HandedOver> {
  const apart = await unlessAway(
    () => besideEngine(home),
    () => [],
  );
  const said = new Set<string>();
  const work = (about: WorkAtHand): readonly string[] => {
    const text = apartText(apart(about));
    if (text === null) return [];
    if (!said.has(text)) note(printable(text));
    said.add(text);
    return [text];
  };
  return { work, run: (run) => work(workOf(run)) };
}

/** A run for people. What was said above it is not said again, unless nothing is said there. */
export function withNotesOf<Run extends Pick<RunDetail, 'notes'>>(
  { quiet }: Pick<Output, 'quiet'>,
  run: Run,
  notes: readonly string[],
): Run {
  return quiet && notes.length > 0 ? { ...run, notes: [...notes, ...run.notes] } : run;
}

/** For `--detach`. @returns what prints a run that was handed over; `say` is how its text is printed. */
export async function openDetached(
  home: Home,
  output: Output,
  say: (text: string) => void = output.line,
): Promise<(run: RunRecord, text: string) => void> {
  const handedOver = await openHandedOver(home, output.note);
  return (run, text) => {
    const notes = handedOver.run(run);
    if (output.json) output.document(detachedDocument(home, run, notes));
    else say(text);
  };
}
