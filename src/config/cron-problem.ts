/**
 * How cron expressions are read, and what is wrong with one, in plain words.
 *
 * croner decides, since it also tells when a schedule is due. Each field is tried alone, with `*` in the others, so that
 * the message can name the wrong one.
 */

interface Field {
  readonly name: string;
  /** Completes "must be …". */
  readonly range: string;
}

const fields: readonly Field[] = [
  { name: 'minute', range: 'from 0 to 59' },
  { name: 'hour', range: 'from 0 to 23' },
  { name: 'day of the month', range: 'from 1 to 31, or L for the last' },
  { name: 'month', range: 'from 1 to 12, or JAN to DEC' },
  { name: 'weekday', range: 'from 0 to 7, where 0 and 7 are Sunday, or SUN to SAT' },
];

const everyTime = fields.map(() => '*');

/**
 * How croner reads an expression: five fields; `5/15` is a step that begins at 5; without `*` and steps a rule names its
 * times, each of which is due once on the nights when clocks change.
 */
export const cronOptions = { mode: '5-part', sloppyRanges: true, fixedTimeRule: 'no-wildcard' } as const;

/** Null where the expression of five fields is right and comes at least once. Loads croner on the first call. */
export async function cronProblem(expression: string): Promise<string | null> {
  const { Cron } = await import('croner');
  const comes = (each: readonly string[]): boolean => {
    try {
      return new Cron(each.join(' '), { timezone: 'UTC', ...cronOptions }).nextRun(new Date(0)) !== null;
    } catch {
      return false;
    }
  };
  const given = expression.split(' ');
  for (const [index, field] of fields.entries()) {
    const text = given[index] ?? '';
    if (!comes(everyTime.with(index, text))) return wrongField(field, text);
  }
  return comes(given) ? null : `"${expression}" never comes: there is no such date`;
}

function wrongField({ name, range }: Field, text: string): string {
  const backwards = /^(\d+)-(\d+)/.exec(text);
  const [, from = '', to = ''] = backwards ?? [];
  if (backwards !== null && Number(from) > Number(to)) {
    return `the ${name} "${text.slice(0, 40)}" counts backwards; write two parts with a comma between them`;
  }
  return `the ${name} "${text.slice(0, 40)}" is not right: a number ${range}, or *, lists such as 1,3, ranges such as 1-5, steps such as */2`;
}
