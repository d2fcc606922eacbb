/** What is known of a setting besides its form: names in the environment, secrecy, where it may stand. */
import { z } from 'zod';

export interface SettingTraits {
  /** The variable the contract names; `PATCHBAY_<SECTION>_<KEY>` works besides. */
  readonly env?: string;
  /** `whole`: never shown. `password`: a URL whose password is never shown. */
  readonly secret?: 'whole' | 'password';
  /** Refused in a config file and as a flag, where others could read it. */
  readonly environmentOnly?: true;
  /** A relative path starts at the folder of the config file that holds it, elsewhere at the current folder. */
  readonly path?: true;
}

/** Traits by the outermost schema of a setting. A setting without an entry has none. */
export const settingTraits = z.registry<SettingTraits>();
