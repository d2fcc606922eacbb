/**
 * The schema as a flat list of settings, for those who load, print and document it.
 *
 * Invariant: `settings` holds every leaf of `configSchema` once, in the schema's order.
 */
import { z } from 'zod';
import { numberWriters } from './forms.ts';
import { configSchema } from './schema.ts';
import { type SettingTraits, settingTraits } from './traits.ts';

/** A value as it may stand in a config file. */
export type Scalar = string | number | boolean | null;

export interface Setting {
  readonly section: string;
  readonly name: string;
  /** `section.name`. */
  readonly key: string;
  readonly schema: z.ZodType;
  readonly description: string;
  /** The default as it is written, such as `45s`. */
  readonly defaultInput: Scalar;
  readonly traits: SettingTraits;
  /** The variables that set it, the contract's name first. */
  readonly variables: readonly string[];
  /** Whether its text in the environment is read as a number. */
  readonly numeric: boolean;
  /** Writes a parsed value in the form that the schema reads. */
  write(value: Scalar): Scalar;
}

export interface Section {
  readonly name: string;
  readonly description: string;
  readonly settings: readonly Setting[];
}

/** The sections in the schema's order. */
export const sections: readonly Section[] = Object.entries(configSchema.shape).map(([name, schema]) => ({
  name,
  description: schema.def.innerType.description ?? '',
  settings: Object.entries(schema.def.innerType.shape).map(([key, leaf]) => settingOf(name, key, leaf)),
}));

export const settings: readonly Setting[] = sections.flatMap((section) => section.settings);

/** `PATCHBAY_<SECTION>_<KEY>`: camelCase split by `_`, in capitals. */
export function variableOf(section: string, name: string): string {
  return `PATCHBAY_${section}_${name.replaceAll(/([A-Z])/g, '_$1')}`.toUpperCase();
}

function settingOf(section: string, name: string, schema: z.ZodType): Setting {
  const traits = settingTraits.get(schema) ?? {};
  const core = coreOf(schema);
  const writer = numberWriters.get(core);
  return {
    section,
    name,
    key: `${section}.${name}`,
    schema,
    description: schema.description ?? '',
    defaultInput: defaultInputOf(schema),
    traits,
    variables: [...new Set([...(traits.env === undefined ? [] : [traits.env]), variableOf(section, name)])],
    numeric: core._zod.def.type === 'number',
    write: (value) => (writer !== undefined && typeof value === 'number' ? writer.write(value) : value),
  };
}

/** The schema below `default`, `prefault` and `nullable`. Ends since each step goes one wrapper down. */
function coreOf(schema: z.core.$ZodType): z.core.$ZodType {
  let core = schema;
  while (core instanceof z.ZodDefault || core instanceof z.ZodPrefault || core instanceof z.ZodNullable) {
    core = core.def.innerType;
  }
  return core;
}

function defaultInputOf(schema: z.ZodType): Scalar {
  const value: unknown =
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ? schema.def.defaultValue : null;
  return isScalar(value) ? value : null;
}

export function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
