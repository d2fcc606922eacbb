/**
 * What is wrong with a cron expression, in the words of the person who wrote it.
 *
 * The library that tells when a schedule is due decides. Each field is tried alone, with `*` in the others, so that
 * the wrong one can be named.
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

/** Null where the expression of five fields is right and comes at least once. Loads the library when it is called. */
export async function cronProblem(expression: string): Promise<string | null> {
  const { CronExpressionParser } = await import('cron-parser');
  const comes = (each: readonly string[]): boolean => {
    try {
      CronExpressionParser.parse(each.join(' '), { tz: 'UTC', currentDate: new Date(0) }).next();
      return true;
    } catch {
      return false;
    }
  };
  const given = expression.split(' ');
  for (const [index, field] of fields.entries()) {
    const text = given[index] ?? '';
    // H is a random number to the library: each look at the expression would give another time.
    const random = /h/i.test(text.replaceAll(/THU/gi, ''));
    if (random || !comes(everyTime.with(index, text))) return wrongField(field, text);
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
