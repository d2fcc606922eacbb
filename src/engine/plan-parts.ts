/** What plans are made with: the parts of staging and of batches, of which nothing is written (`src/plans`). */
import type { Home } from '#src/app.ts';
import { serviceFigures } from '#src/config/schema.ts';
import { feedsOfAllHosts } from '#src/operations/hosts.ts';
import type { PlanService } from '#src/operations/plan.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { runParts, upsertParts } from './job-context.ts';

export async function planParts(home: Home, workspace: Workspace): Promise<PlanService> {
  const { config, mode, ledger, clock, serviceName, runFolders } = home;
  const { requestsPerSecond } = serviceFigures(config, mode);
  const upsert = upsertParts(home, workspace, await feedsOfAllHosts(home));
  return {
    reading: runParts(home, workspace, upsert),
    plan: { ledger, clock, upsert, requestsPerSecond, serviceName, draftsFolder: runFolders.drafts },
  };
}
