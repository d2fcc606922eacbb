/** What is known of a setting besides its form: names in the environment, secrecy, where it may stand. */
import { z } from 'zod';

export interface SettingTraits {
  /** The variable the contract names; `PATCHBAY_<SECTION>_<KEY>` works besides. */
  readonly env?: string;
  /**
   * What is never shown: the `whole`; of a URL its `password`, what follows the origin (`path`), or its `query`. A value
   * of `unlessRight` is shown only where it has the expected form: a wrong one may be a secret.
   */
  readonly secret?: 'whole' | 'password' | 'path' | 'query' | 'unlessRight';
  /** Refused in a config file and as a flag, where others could read it. */
  readonly environmentOnly?: true;
  /**
   * A relative path starts at the folder of the config file that holds it, elsewhere at the current folder. `orUrl`:
   * what has a scheme is no path. `orName`: what has neither a folder nor the ending of YAML is none.
   */
  readonly path?: true | 'orUrl' | 'orName';
}

/** Traits by the outermost schema of a setting. A setting without an entry has none. */
export const settingTraits = z.registry<SettingTraits>();
