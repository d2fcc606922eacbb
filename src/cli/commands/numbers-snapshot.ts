/** `patchbay numbers snapshot`: takes a snapshot of the phone numbers now, whichever process does the work. */
import type { Home } from '#src/app.ts';
import { invariant, PatchbayError } from '#src/errors.ts';
import { phoneNumbersSchedule, type TickRecord } from '#src/ledger/schedule-record.ts';
import { followTick } from '#src/schedules/carry-out-tick.ts';
import { newTickId } from '#src/schedules/tick-due.ts';
import { changesOf } from '#src/snapshots/change-file.ts';
import { describeChange } from '#src/snapshots/describe-change.ts';
import { seriesOf, snapshotFile } from '#src/snapshots/snapshot-files.ts';
import type { GlobalOptions } from '../global-options.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { patienceOf } from '../one-shot.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { changeSummary, countedNumbers, diffCommand, shortInstant, snapshotDocument } from '../present-numbers.ts';
import { takeSeatFor } from '../seat.ts';
import { tellInterrupted } from '../tell-interrupted.ts';
import { endedTick } from '../tick-failure.ts';

interface SnapshotOptions extends GlobalOptions {
  readonly user?: string;
  readonly wait?: string;
}

const changesShown = 100;

export async function snapshotNumbers(options: SnapshotOptions): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const user = options.user ?? null;
  const series = seriesOf(user);
  const home = await openCliHome(options, 'work');
  const output = createOutput(options);
  const interrupt = listenForInterrupt(() => {
    output.note('patchbay: the next engine takes the snapshot; press Ctrl-C again to leave at once');
  });
  try {
    const id = newTickId();
    const { seat, entered } = await takeSeatFor(
      home,
      output,
      { patienceMs, interrupt },
      () => request(home, id, user),
      (tick) => withdraw(home, id, tick),
    );
    try {
      await requireRegularAnswers(home, (code, message) => withdraw(home, id, entered, code, message));
      const end = await seat.follow((following) => followTick({ ...following, tickId: entered.id }));
      await print(home, output, series, endedTick(end, phoneNumbersSchedule));
      return 0;
    } finally {
      await seat.leave();
    }
  } catch (error) {
    const code = interrupt.exitCode();
    if (code === null) throw error;
    return tellInterrupted(output, 'interrupted: the snapshot is taken by the next engine', code);
  } finally {
    interrupt.dispose();
    await home.close();
  }
}

/** Where the configuration takes none by itself, the schedule is one without a rule. */
async function request({ ledger, clock }: Home, id: string, user: string | null): Promise<TickRecord> {
  const nowMs = clock.nowMs();
  const name = phoneNumbersSchedule;
  if ((await ledger.schedules.get(name)) === null) {
    await ledger.schedules.put({ name, work: 'snapshot', rule: null, dueAtMs: null, createdAtMs: nowMs });
  }
  return ledger.schedules.request({ id, schedule: name, trigger: 'request', user, dueAtMs: nowMs });
}

/** What does not pass by waiting: the service answers, and not as its interface says. */
const oddCodes: ReadonlySet<string> = new Set([
  'pageTokenNotText',
  'pageTokenRepeated',
  'tooManyPages',
  'serviceAnswersOddly',
]);

/**
 * Where the service answers look-ups oddly, too, all work waits already, and the snapshot would wait with it.
 * @throws PatchbayError `unreachable`.
 */
async function requireRegularAnswers(
  { ledger }: Home,
  giveUp: (code: string, message: string) => Promise<void>,
): Promise<void> {
  const pause = await ledger.pause();
  if (pause?.errorCode === undefined || !oddCodes.has(pause.errorCode)) return;
  await giveUp(pause.errorCode, pause.message);
  throw new PatchbayError('unreachable', pause.errorCode, pause.message);
}

/** One that waited before is somebody else's, and stays. */
async function withdraw(
  { ledger, clock }: Home,
  id: string,
  tick: TickRecord,
  code = 'notStarted',
  message = 'no engine could be started for it',
): Promise<void> {
  if (tick.id !== id || !(await ledger.schedules.begin(id, clock.nowMs()))) return;
  await ledger.schedules.end(id, clock.nowMs(), { outcome: 'failed', code, message });
}

async function print(home: Home, output: Output, series: string, tick: TickRecord): Promise<void> {
  const { ledger, folders } = home;
  const record = tick.takenAtMs === null ? null : await ledger.snapshots.at(series, tick.takenAtMs);
  invariant(record !== null && record.takenAtMs === tick.takenAtMs, 'a snapshot that was taken is in the ledger');
  const folder = folders.phoneNumberSnapshots;
  if (output.json) {
    output.document(snapshotDocument(folder, record));
    return;
  }
  const before = await ledger.snapshots.before(series, record.takenAtMs);
  const since =
    before === null ? 'the first snapshot' : `${changeSummary(record)} since ${shortInstant(before.takenAtMs)}`;
  output.line(`${output.style('bold', countedNumbers(record.count))} ← ${home.serviceName}: ${since}`);
  const changes = await changesOf(home.ledger.snapshots, record);
  for (const change of changes.slice(0, changesShown)) output.line(`  ${printable(describeChange(change, output))}`);
  if (changes.length > changesShown)
    output.line(`  … and ${changes.length - changesShown} more: ${diffCommand(series)}`);
  if (tick.message !== null) output.line(`  ${printable(tick.message)}`);
  output.line(`  file: ${snapshotFile(folder, record)}`);
}
