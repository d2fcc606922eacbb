/**
 * What people and programs write where they have no value: `N/A`, `-`, `unknown`, `keine`. Read as no value, with a warning
 * (`docs/rules.md`, "What a cell means").
 *
 * Closed lists. The one for names is short, since people are called None, Nil, Na and K. A.: what is a name somewhere is not in it.
 */

/** Where the text is: an item is a phone number or an e-mail address. */
export type PlaceholderPlace = 'key' | 'name' | 'company' | 'item';

const list = (text: string): readonly string[] => text.split(/\s*,\s*/).map((entry) => entry.trim());

/** Without dots, in lower case. */
const anywhere = list('null, n/a, #n/a, #nv, #n/d, undefined, \\n');
const unknowns = list(`
  unknown, not known, not available, not applicable, not provided, not given, not specified, unbekannt, nicht bekannt,
  nicht vorhanden, nicht angegeben, keine angabe, keine angaben, inconnu, inconnue, non renseigné, non renseigne,
  non renseignée, non communiqué, non communique, desconocido, desconocida, sin datos, no disponible, no consta`);
const nones = list(`
  none, nil, no value, k a, blank, empty, kein, keine, keiner, keins, leer, ohne, entfällt, entfaellt, fehlt, aucun, aucune,
  néant, neant, ninguno, ninguna, no tiene, vacío, vacio`);
const noItems = list(`
  na, ka, nv, nan, no, nope, private, unlisted, not listed, withheld, anonymous, xx, xxx, tbd, tba, missing, no phone, no phone number, no number, no email, no e-mail,
  no mail, does not have, nein, nichts, nix, keine nummer, keine telefonnummer, kein telefon, keine email, keine e-mail,
  keine mail, kein handy, non, sans, rien, nc, pas de téléphone, pas de telephone, pas de mail, pas d'email, nada, sd, s/d,
  s/n, sin teléfono, sin telefono, sin correo, sin email`);

const words: Readonly<Record<PlaceholderPlace, ReadonlySet<string>>> = {
  key: new Set([...anywhere, ...unknowns, ...nones]),
  name: new Set([...anywhere, ...unknowns]),
  company: new Set([...anywhere, ...unknowns, ...nones]),
  item: new Set([...anywhere, ...unknowns, ...nones, ...noItems]),
};

/** No entry is longer, with dots and brackets around it. */
const lengthMax = 40;

/** A spreadsheet shows `#####` in place of a value that does not fit its column: that is a lost value, and not none. */
const hidden = /^#+$/;

/** An address, or a number with four digits that are not all zeros: no entry has these, and most cells do. */
const isPlainlyValue = /@|\d\D{0,3}\d\D{0,3}\d\D{0,3}[1-9]/;

/**
 * True for a word of the list, also in brackets or quotes, and for punctuation alone: `-`, `--`, `—`, `(   ) -`; of a key,
 * for dashes alone.
 */
export function isPlaceholder(text: string, place: PlaceholderPlace): boolean {
  if (text.length > lengthMax || isPlainlyValue.test(text)) return false;
  const trimmed = text.trim();
  if (trimmed === '' || hidden.test(trimmed)) return false;
  // Most names are one word without any marks around it, and are asked about in every row.
  if (/^[a-z]+$/i.test(trimmed)) return words[place].has(trimmed.toLowerCase());
  if (place === 'key' ? /^\p{Pd}+$/u.test(trimmed) : /^[\p{P}+=~|<>^`\s]+$/u.test(trimmed)) return true;
  if (place === 'item' && isEmptyNumber(trimmed)) return true;
  const bare = /^["'<([{*-]*\s*(.*?)\s*["'>)\]}*-]*$/su.exec(trimmed)?.[1] ?? trimmed;
  const plain = bare.toLowerCase().replaceAll('.', ' ').replace(/\s+/g, ' ').trim().normalize('NFC');
  return words[place].has(plain) || (place === 'item' && words.item.has(plain.replaceAll(' ', '')));
}

/** `0`, `000-000-0000`, `xxx-xxx-xxxx`, and the `+1` or `+49 (___) ___` that a form holds before anything is typed. */
function isEmptyNumber(text: string): boolean {
  return (
    /^[0\s().+-]+$/.test(text) ||
    /^\+[1-9]\d{0,2}[\s()_.-]*$/.test(text) ||
    /^\+?\d?[\s().-]*(?:xxx[\sx().-]*)$/i.test(text)
  );
}
