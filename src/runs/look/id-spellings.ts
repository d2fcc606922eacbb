/**
 * Other spellings of numbers and ids, as spreadsheets and databases write them: `1,001.00`, `1001.0000` and `1001e0` for `1001`, and a UUID in braces or
 * without dashes. Pure.
 */

/** Of a column of numbers with decimals in a database: `1001.`, `1001.0000`. */
const decimals = /[.,]0{0,10}$/;
const grouped = /^[1-9]\d{0,2}([.,'’ \u00a0\u202f])\d{3}(?:\1\d{3})*$/;
const scientific = /^(\d+)(?:[.,](\d+))?e\+?(\d{1,2})$/i;

/**
 * Whole numbers without the decimals and the separators of thousands that a program shows: `1,001.00` → `1001`. None for another text. What may be
 * either is both: `1.000` → `1000`, `1`.
 */
export function plainNumbers(body: string): readonly string[] {
  const whole = body.replace(decimals, '');
  const found = [
    withoutSeparators(body),
    ...(whole === body ? [] : [withoutDecimals(whole, body)]),
    fromExponent(body),
  ];
  return [...new Set(found)].flatMap((one) => (one === null || one === body ? [] : [one]));
}

function withoutSeparators(body: string): string | null {
  return grouped.test(body) ? body.replace(/\D/g, '') : null;
}

function withoutDecimals(whole: string, body: string): string | null {
  if (/^\d+$/.test(whole)) return whole;
  // One character has one meaning: `1.001.00` is no number.
  return whole.includes(body.charAt(whole.length)) ? null : withoutSeparators(whole);
}

function fromExponent(body: string): string | null {
  const [, whole = '', fraction = '', exponent = ''] = scientific.exec(body) ?? [];
  const digits = fraction.replace(/0+$/, '');
  if (whole === '' || digits.length > Number(exponent)) return null;
  return `${whole}${digits.padEnd(Number(exponent), '0')}`;
}

const uuid = /^\{?([\da-f]{8})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{12})\}?$/i;
const objectId = /^ObjectId\(\s*["']?([\da-f]{24})["']?\s*\)$/i;

/** The same UUID in its other spellings, and an id of MongoDB without the word that its tools put around it. None for another text. */
export function otherIdSpellings(body: string): readonly string[] {
  const inside = objectId.exec(body)?.[1];
  if (inside !== undefined) return [inside];
  const parts = uuid.exec(body)?.slice(1);
  if (parts === undefined) return [];
  const [dashed, bare] = [parts.join('-'), parts.join('')];
  return [dashed, bare, `{${dashed}}`].filter((one) => one !== body);
}
