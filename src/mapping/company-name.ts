/**
 * The name of a company in a text that may hold a person's, too, as lists of both write them: `Tulp B.V., Pieter van den Berg`,
 * `Tulp B.V.`, `Ute Klein`. What ends with a legal form is a company; of two names with a comma between them the first one may be.
 *
 * Where there is no legal form, no company is found: only a directory could tell a `Mara Holt` who trades from one who does not.
 * The two parts together hold every word of the text. Pure.
 */

export interface CompanyAndPerson {
  /** Empty where the text names no company. */
  readonly company: string;
  readonly person: string;
}

/** Written in any case; other words are in front. */
const forms = [
  String.raw`g?gmbh|mbh|ohg|kgaa|e\. ?k(?:fr|fm)?\.?|e\. ?v\.|e\. ?g\.|gbr|partg(?: ?mbb)?`,
  String.raw`ltd|limited|llc|l\.l\.c|llp|l\.l\.p|inc|incorporated|corp|corporation|plc|pty|company|group`,
  String.raw`b\.v|n\.v|v\.o\.f|vof|bvba|b\.v\.b\.a|s\.a|sarl|s\.a\.r\.l|s\.a\.s|eurl|srl|s\.r\.l|s\.p\.a|s\.l|s\.l\.u`,
  String.raw`oyj?|a\/s|aps|asa|sp\. ?z ?o\.? ?o|s\.r\.o|d\.o\.o|kft|gruppe|holding`,
];
/** In small letters they may be a part of a person's name: `Sa`, `As`. */
const capitalForms = ['AG|KG|UG|SE|EG|EK|BV|NV|SA|SAS|SL|SLU|SpA|SPA|AB|AS|EWIV'];

const endsWith = (words: readonly string[], flags: string): RegExp =>
  new RegExp(String.raw`\S[\s,]+(?:${words.join('|')})\.?(?: ?\([^()]{1,40}\))?$`, flags);
const legalEnds = [endsWith(forms, 'iu'), endsWith(capitalForms, 'u')];

/** The name of a company is no longer; only its end is looked at. */
const endCharsMax = 80;
/** A longer text is no name. */
const nameCharsMax = 300;

/** Whether a legal form is the end of it. */
function isCompany(text: string): boolean {
  const end = text.slice(-endCharsMax);
  return legalEnds.some((one) => one.test(end));
}

export function splitCompany(text: string): CompanyAndPerson {
  const whole = text.trim();
  if (whole.length > nameCharsMax) return { company: '', person: whole };
  if (isCompany(whole)) return { company: whole, person: '' };
  for (let at = whole.lastIndexOf(','); at > 0; at = whole.lastIndexOf(',', at - 1)) {
    const company = whole.slice(0, at).trim();
    if (isCompany(company)) return { company, person: whole.slice(at + 1).trim() };
  }
  return { company: '', person: whole };
}

/** `Tulp B.V., Pieter van den Berg`: both are there. */
export function isCompanyWithPerson(text: string): boolean {
  const { company, person } = splitCompany(text);
  return company !== '' && person !== '';
}
