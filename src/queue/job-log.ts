/**
 * The log lines of a job, beside the log files also in the queue, where a page that shows queues finds them.
 *
 * Invariant: nobody waits for a line, none fails the work, none comes after the job's end. While Redis is away, lines
 * beyond a bound are left out: the files have them all.
 */
import type { Job } from 'bullmq';

export interface JobLog {
  add(line: string): void;
  /** What comes later is left out. */
  close(): void;
}

/** Lines on their way to Redis, of all jobs of a process. */
export interface LinesUnderway {
  count: number;
}

export const jobLinesMax = 200;
/** With the ended jobs that are kept, it bounds what the embedded queue holds in memory. */
const jobCharsMax = 32_768;
const underwayMax = 100;

const lastLine = JSON.stringify({ msg: 'further lines stand in the log files' });

export function openJobLog(job: Pick<Job, 'log'>, underway: LinesUnderway): JobLog {
  let linesLeft = jobLinesMax;
  let charsLeft = jobCharsMax;
  let closed = false;
  const send = (line: string): void => {
    if (underway.count >= underwayMax) return;
    underway.count += 1;
    const done = (): void => {
      underway.count -= 1;
    };
    job.log(line).then(done, done);
  };
  return {
    add: (line) => {
      if (closed || linesLeft === 0) return;
      linesLeft -= 1;
      charsLeft -= line.length;
      if (linesLeft > 0 && charsLeft >= 0) return send(line);
      linesLeft = 0;
      send(lastLine);
    },
    close: () => {
      closed = true;
    },
  };
}
