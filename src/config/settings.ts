/**
 * The schema as a tree of settings, for loading, printing and documenting it.
 *
 * Terms: a *group* holds settings and further groups; a *section* is a group at the root. The section `feeds` is a map
 * instead: it holds one group per feed, all of the same shape. The setting `name` is in no section.
 * Invariant: `settings` holds every leaf of `configSections` outside `feeds` once, in the schema's order.
 */
import { z } from 'zod';
import { feedSchema, feedsSection } from './feed-schema.ts';
import { coreOf, innerOf, numberForms, ranges, type SettingTraits, settingTraits } from './forms.ts';
import { configSections } from './schema.ts';

/** A value as it is written in a config file. */
export type Written = string | number | boolean | null | readonly string[];

export interface Setting {
  readonly kind: 'setting';
  /** From the root, as it is written. */
  readonly path: readonly string[];
  readonly name: string;
  /** The path with dots, such as `snapshots.phoneNumbers.every`. */
  readonly key: string;
  /** Its name in `Config`: a duration's ends in its unit, as `everyMs`. */
  readonly configName: string;
  readonly description: string;
  /** The default as it is written, such as `45s`. */
  readonly defaultInput: Written;
  /** Its bounds, both included; null where it has none. */
  readonly range: { readonly from: string; readonly to: string } | null;
  readonly traits: SettingTraits;
  /** The variables that set it, the short name first; none for a feed's. */
  readonly variables: readonly string[];
  /** What its text in the environment is read as. */
  readonly readAs: 'text' | 'number' | 'boolean';
  /** Writes a parsed value in the form that the schema reads. */
  write(value: Written): Written;
}

export interface Group {
  readonly kind: 'group';
  readonly path: readonly string[];
  readonly name: string;
  readonly key: string;
  readonly description: string;
  readonly members: readonly Member[];
}

type Member = Setting | Group;

/** The section `feeds`. */
interface FeedMap {
  readonly kind: 'feeds';
  readonly name: string;
  readonly key: string;
  readonly description: string;
}

/** The sections in the schema's order, and the setting that is in none. */
export const sections: readonly (Member | FeedMap)[] = Object.entries(configSections.shape).map(([name, schema]) =>
  name === 'feeds'
    ? { kind: 'feeds', name, key: name, description: descriptionOf(feedsSection) }
    : memberOf([name], schema, variableOf),
);

/** The settings of one feed, which may be written in the config file only. */
export function feedGroup(name: string): Group {
  return groupOf(['feeds', name], feedSchema, () => null);
}

export const settings: readonly Setting[] = sections.flatMap((section) => {
  if (section.kind === 'feeds') return [];
  return section.kind === 'setting' ? [section] : settingsOf(section);
});

/** Those of a group and of the groups within it, in order. Ends since groups are finitely deep. */
export function settingsOf(group: Group): Setting[] {
  return group.members.flatMap((member) => (member.kind === 'setting' ? [member] : settingsOf(member)));
}

/** What is at that path; null where there is nothing. */
export function memberAt(path: readonly string[]): Member | FeedMap | null {
  const [first, second, ...rest] = path;
  const section = sections.find(({ name }) => name === first) ?? null;
  if (section === null || second === undefined) return section;
  if (section.kind === 'setting') return null;
  return section.kind === 'feeds' ? below(feedGroup(second), rest) : below(section, path.slice(1));
}

/** Ends with the path. */
function below(group: Group, path: readonly string[]): Member | null {
  const [name, ...rest] = path;
  if (name === undefined) return group;
  const member = group.members.find((each) => each.name === name) ?? null;
  if (member?.kind === 'group') return below(member, rest);
  return rest.length === 0 ? member : null;
}

/** `PATCHBAY_<SECTION>_<KEY>`: camelCase split by `_`, in capitals. */
export function variableOf(...path: readonly string[]): string {
  return `PATCHBAY_${path.map((name) => name.replaceAll(/([A-Z])/g, '_$1')).join('_')}`.toUpperCase();
}

type NameVariable = (...path: readonly string[]) => string | null;

function memberOf(path: readonly string[], schema: z.core.$ZodType, variable: NameVariable): Member {
  return coreOf(schema) instanceof z.ZodObject ? groupOf(path, schema, variable) : settingOf(path, schema, variable);
}

function groupOf(path: readonly string[], schema: z.core.$ZodType, variable: NameVariable): Group {
  const core = coreOf(schema);
  const shape = core instanceof z.ZodObject ? core.shape : {};
  const members = Object.entries(shape).map(([name, leaf]) => memberOf([...path, name], leaf, variable));
  const description = descriptionOf(schema);
  return { kind: 'group', path, name: path.at(-1) ?? '', key: path.join('.'), description, members };
}

function settingOf(path: readonly string[], leaf: z.core.$ZodType, variable: NameVariable): Setting {
  if (!(leaf instanceof z.ZodType)) throw new TypeError(`${path.join('.')} has no schema`);
  const traits = settingTraits.get(leaf) ?? {};
  const core = coreOf(leaf);
  const type = core._zod.def.type;
  const form = numberForms.get(core);
  const variables = [traits.env, variable(...path)].filter((name) => name !== undefined && name !== null);
  const name = path.at(-1) ?? '';
  return {
    kind: 'setting',
    path,
    name,
    key: path.join('.'),
    configName: `${name}${form?.suffix ?? ''}`,
    description: descriptionOf(leaf),
    defaultInput: defaultInputOf(leaf),
    range: ranges.get(core) ?? null,
    traits,
    variables: [...new Set(variables)],
    readAs: type === 'number' || type === 'boolean' ? type : 'text',
    write: (value) => (form !== undefined && typeof value === 'number' ? form.write(value) : value),
  };
}

/** The outermost description there is. Ends since each step goes one wrapper down. */
function descriptionOf(schema: z.core.$ZodType): string {
  for (let each: z.core.$ZodType | null = schema; each !== null; each = innerOf(each)) {
    const text = z.globalRegistry.get(each)?.description;
    if (text !== undefined) return text;
  }
  return '';
}

function defaultInputOf(schema: z.ZodType): Written {
  const value: unknown =
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ? schema.def.defaultValue : null;
  return isWritten(value) ? value : null;
}

export function isWritten(value: unknown): value is Written {
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string');
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
