/** The configuration in effect as YAML, with the origin of each value; secrets are masked. */
import { stringify } from 'yaml';
import type { LoadedConfig } from './load.ts';
import { isScalar, type Scalar, type Setting, sections } from './settings.ts';

const mask = '********';

/** YAML that loads to the same configuration but for what is masked. Ends with a line break. */
export function printConfig({ config, sources, configFile }: LoadedConfig): string {
  const lines = [`# Config file: ${configFile ?? 'none'}`];
  for (const section of sections) {
    lines.push(`${section.name}:`);
    const values: Readonly<Record<string, unknown>> = {
      ...Object.entries(config).find(([key]) => key === section.name)?.[1],
    };
    for (const setting of section.settings) {
      const value = values[setting.name];
      const text = stringify(masked(setting, isScalar(value) ? setting.write(value) : null), {
        lineWidth: 0,
      }).trimEnd();
      lines.push(`  ${setting.name}: ${text} # ${sources[setting.key]?.name ?? 'default'}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function masked(setting: Setting, value: Scalar): Scalar {
  if (value === null || setting.traits.secret === undefined) return value;
  if (setting.traits.secret === 'whole' || typeof value !== 'string') return mask;
  const url = new URL(value);
  if (url.password !== '') url.password = mask;
  else if (url.username !== '') url.username = mask; // some servers take a lone user name as the password
  return url.href;
}
