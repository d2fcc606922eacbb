/** `patchbay dead retry`: works until what it took is settled, unless detached. */
import { type RedriveChoice, redrive } from '#src/dead-letters/redrive.ts';
import { PatchbayError } from '#src/errors.ts';
import { finishOneShot } from '../finish-one-shot.ts';
import type { GlobalOptions } from '../global-options.ts';
import { patienceOf } from '../one-shot.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput } from '../output.ts';

interface RetryOptions extends GlobalOptions {
  readonly code?: string;
  readonly run?: string;
  readonly all?: boolean;
  readonly remap?: boolean;
  readonly wait?: string;
  readonly detach?: boolean;
}

export async function retryDead(options: RetryOptions, ids: readonly string[]): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const chosen = ids.length > 0 || options.code !== undefined || options.run !== undefined;
  if (!chosen && options.all !== true) {
    throw new PatchbayError('usage', 'nothingChosen', 'say which dead letters to try again', {
      hint: 'Name their ids, or use --code CODE, --run RUN or --all.',
    });
  }
  const choice: RedriveChoice = {
    ...(ids.length > 0 ? { ids } : {}),
    ...(options.code === undefined ? {} : { code: options.code }),
    ...(options.run === undefined ? {} : { runId: options.run }),
    remap: options.remap === true,
  };
  const home = await openCliHome(options, 'work');
  try {
    const output = createOutput(options);
    const submit = async () => (await redrive(home.submit, choice)).map((run) => ({ run, isNew: true }));
    if (options.detach === true) {
      for (const { run } of await submit()) {
        if (output.json) output.document({ run: run.id, state: run.state, exitCode: 0 });
        else output.line(`${run.fileName}: run ${run.id} tries again with the running engine, or the next one`);
      }
      return 0;
    }
    return await finishOneShot(home, { output, patienceMs, sameWorkspace: false, refused: [] }, submit);
  } finally {
    await home.close();
  }
}
