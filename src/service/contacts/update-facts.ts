/** What an update needs to know beside the contact and the body. */
import type { PatchMode } from '../service-options.ts';

export interface UpdateFacts {
  readonly mode: PatchMode;
  /** ISO 8601. */
  readonly updatedAt: string;
  readonly newItemId: () => string;
}
