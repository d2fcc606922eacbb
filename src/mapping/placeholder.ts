/**
 * What people and programs write where they have no value: `N/A`, `-`, `unknown`, `keine`. Read as no value, with a warning
 * (`docs/rules.md`, "What a cell means"). Pure.
 *
 * Closed lists. The one for names is short, since people are called None, Nil, Na and K. A.: what is a name somewhere is not in it.
 */
import { isCallingCode } from './numbering-plans.ts';

/** Where the text is: an item is a phone number or an e-mail address. */
export type PlaceholderPlace = 'key' | 'name' | 'company' | 'item';

const list = (text: string): readonly string[] => text.split(/\s*,\s*/).map((entry) => entry.trim());

/** Without dots, in lower case. `#N/A` is what a look-up that found nothing shows, in the language of the spreadsheet. */
const anywhere = list('null, n/a, #n/a, #nv, #n/d, #n/b, #i/t, #н/д, #yok, #hiányzik, undefined, \\n');
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

/** What programs write, as they write it: `Nan` and `Nat` are names. */
const ofPrograms = ['NaN', 'NaT', '<NA>', '<nil>'];
/** What JavaScript writes in place of a value that it cannot write. Not read as a number or an address: it takes none away. */
const lost = '[object Object]';
const exactly: Readonly<Record<PlaceholderPlace, ReadonlySet<string>>> = {
  key: new Set([...ofPrograms, lost]),
  name: new Set([...ofPrograms, lost, 'nan']),
  company: new Set([...ofPrograms, lost, 'nan']),
  item: new Set(ofPrograms),
};

/** What programs write, and a name or a company may be, too: of R `NA`, of Python `None`, of Ruby `nil`. */
const inDoubt: ReadonlySet<string> = new Set('NA na None none nil N false False FALSE 0'.split(' '));
const inDoubtLengthMax = 5;

/** Of a placeholder: whether a value was there that the export has lost. */
export function isLost(text: string): boolean {
  return text.trim() === lost;
}

/** Of a placeholder that is a part of a whole name: `nan goldin`, and not `Omar nan`, is a name in small letters. */
export function isInSmallName(text: string, whole: string): boolean {
  return text.trim() === 'nan' && /^\p{Ll}+(?:\s+\p{Ll}+)+$/u.test(whole.trim());
}

/** Of a text that is no placeholder in its place: whether it may be one all the same. The other rows of its file may tell. */
export function mayBePlaceholder(text: string): boolean {
  return text.length <= inDoubtLengthMax && inDoubt.has(text.trim());
}

/** No entry is longer, with dots and brackets around it. */
const lengthMax = 40;

/** How the entries of each list begin: their first two letters, without accents, as numbers. */
const beginnings: Readonly<Record<PlaceholderPlace, ReadonlySet<number>>> = {
  key: beginningsOf('key'),
  name: beginningsOf('name'),
  company: beginningsOf('company'),
  item: beginningsOf('item'),
};

function beginningsOf(place: PlaceholderPlace): ReadonlySet<number> {
  const entries = [...words[place], ...exactly[place]];
  return new Set(entries.flatMap((entry) => beginningOf(entry.normalize('NFD')) ?? []));
}

/** Null where the text does not begin with two ASCII letters. */
function beginningOf(text: string): number | null {
  const [first, second] = [text.charCodeAt(0) | 0x20, text.charCodeAt(1) | 0x20];
  const areLetters = first >= 0x61 && first <= 0x7a && second >= 0x61 && second <= 0x7a;
  return areLetters ? first * 0x100 + second : null;
}

/** True for most names and words: no entry begins as they do. */
function isOtherWord(text: string, place: PlaceholderPlace): boolean {
  const beginning = beginningOf(text);
  return beginning !== null && !beginnings[place].has(beginning);
}

/** A spreadsheet shows `#####` in place of a value that does not fit its column: that is a lost value, and not none. */
const hidden = /^#+$/;

/** An address, or a number with four digits that are not all zeros: no entry has these, and most cells do. */
const isPlainlyValue = /@|\d\D{0,3}\d\D{0,3}\d\D{0,3}[1-9]/;

/**
 * True for a word of the list, also in brackets or quotes, and for punctuation alone: `-`, `--`, `—`, `(   ) -`; of a key,
 * for dashes alone.
 */
export function isPlaceholder(text: string, place: PlaceholderPlace): boolean {
  if (text.length > lengthMax || isOtherWord(text, place) || isPlainlyValue.test(text)) return false;
  const trimmed = text.trim();
  if (trimmed === '' || hidden.test(trimmed)) return false;
  if (exactly[place].has(trimmed)) return true;
  // Most names are one word without any marks around it, and are asked about in every row.
  if (/^[a-z]+$/i.test(trimmed)) return words[place].has(trimmed.toLowerCase());
  if (place === 'key' ? /^\p{Pd}+$/u.test(trimmed) : /^[\p{P}+=~|<>^`\s]+$/u.test(trimmed)) return true;
  if (place === 'item' && isEmptyNumber(trimmed)) return true;
  const bare = /^["'<([{*-]*\s*(.*?)\s*["'>)\]}*-]*$/su.exec(trimmed)?.[1] ?? trimmed;
  const plain = bare.toLowerCase().replaceAll('.', ' ').replace(/\s+/g, ' ').trim().normalize('NFC');
  return words[place].has(plain) || (place === 'item' && words.item.has(plain.replaceAll(' ', '')));
}

/**
 * `0`, `000-000-0000`, `xxx-xxx-xxxx`, and the `+1` or `+49 (___) ___` that a form holds before anything is typed. `+123` is
 * none, since no country has that code: it is what is left of a number.
 */
function isEmptyNumber(text: string): boolean {
  if (/^[0\s().+-]+$/.test(text) || /^\+?\d?[\s().-]*(?:xxx[\sx().-]*)$/i.test(text)) return true;
  const code = /^\+([1-9]\d{0,2})[\s()_.-]*$/.exec(text)?.[1];
  return code !== undefined && isCallingCode(code);
}
