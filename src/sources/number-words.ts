/**
 * What the words of a header, or of the label of a number, say: which name a telephone, and which a machine that cannot be called.
 *
 * Closed tables of words, without accents, digits or punctuation. They prefer keeping a number to leaving it out: `Fairfax` and
 * `Halifax` are places, and a number of `Phone/Fax` takes calls, too. Pure.
 */

/** The words of a table, separated by spaces or line breaks. */
export const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Any of these words names a telephone. */
export const phoneWords = words(
  `phone phones telephone smartphone cellphone telefon telefonnummer rufnummer handy handynummer mobilnummer mobiltelefon
  mobilfunk mobilfunknummer festnetz festnetznummer telefono telefonos telefonnr telnr telnummer rufnr handynr mobilnr
  mobiltel diensthandy firmenhandy geschaftshandy privathandy privattelefon festnetztelefon`,
);
/** These count only beside known words: `Mobile` and `Tel. privat`, not `Mobile App`. */
export const weakPhoneWords = words('mobile mobil cell tel gsm portable fixe fijo movil celular durchwahl direktwahl');
/** Which number or address it is. */
export const qualifiers = words(
  `number numbers n no nr num numero nummer address adresse direccion value default primary secondary main other direct
  contact kontakt customer kunde kunden client cliente company firma firmen
  empresa entreprise societe work business office home private personal
  privat geschaftlich geschaeftlich dienstlich dienst beruflich arbeit buro buero zentrale weitere sonstige travail bureau domicile maison personnel
  professionnel profesional principal autre otro trabajo casa oficina particular electronico electronique de du d la le el del the`,
);

/** What `fax` is written together with, besides the words above: `telefax`, `hauptfax`, `faxes`. */
const faxCompanions = words(
  `tele e haupt direkt zentral geschafts geschaefts empfangs sekretariats verwaltungs vertriebs abteilungs praxis kanzlei
  werks computer internet online digital corporate dept store es gerat geraet anschluss machine`,
);
const otherMachine =
  /^(?:facsimile|telecopi|radiomessagerie|localizador|buscapersonas|cercapersone|telex|teletex|teletip|teletyp|fernschreib|texttelefon|semafoon|funkruf)|^(?:pager|beeper|bipeur|piepser|pieper|tty|tdd)$/;
/** The same in writing that has no Latin letters. */
const machineElsewhere = /ファ(?:ック|ク)ス|ファクシミリ|ポケ(?:ット)?ベル|テレックス|传真|傳真|팩스|факс|пейджер/iu;

/** What parts two kinds of numbers, as in `Phone/Fax`. `ATS/TTY` is one kind. */
const between = /(?<!\bats\s?)[/&+,;|]|(?<!\p{L})(?:and|und|et|y|or|oder|ou|en)(?!\p{L})/iu;

/**
 * Whether a header, or the label of a number, names a machine that cannot be called (fax, pager, telex, TTY): `alone`, or
 * `besidePhone`, where the number takes calls, too (`Phone/Fax`).
 */
export function machineIn(header: string): 'none' | 'alone' | 'besidePhone' {
  const text = header.slice(0, headerCharsMax);
  if (!isOfMachine(text)) return 'none';
  return text.split(between).some((part) => !isOfMachine(part) && isOfPhone(part)) ? 'besidePhone' : 'alone';
}

function isOfMachine(text: string): boolean {
  return wordsOf(text).some(isMachine) || machineElsewhere.test(text.normalize('NFKC'));
}

function isMachine(word: string): boolean {
  if (otherMachine.test(word)) return true;
  const [, before, after] = /^(.*)fax(.*)$/.exec(word) ?? [];
  return isWithFax(before) && isWithFax(after);
}

function isWithFax(part: string | undefined): boolean {
  if (part === undefined || part === '') return part === '';
  return [faxCompanions, qualifiers, phoneWords, weakPhoneWords].some((table) => table.has(part));
}

function isOfPhone(text: string): boolean {
  const parts = wordsOf(text);
  if (parts.some((part) => phoneWords.has(part))) return true;
  const areKnown = parts.every((part) => qualifiers.has(part) || weakPhoneWords.has(part));
  return areKnown && parts.some((part) => weakPhoneWords.has(part));
}

/** Only this many characters of a header are looked at. */
const headerCharsMax = 100;

/** Words that are written as one: `workphone`, `mobilenumber`. */
const compound =
  /^(mobile|cell|home|work|business|office|private|personal|other|company|contact|primary|secondary)(phone|telephone|tel|email|mail|number|no)$/;

/** `E-Mail privat` → email, privat; `homePhone 2` → home, phone; `workphone` → work, phone; `Téléphone` → telephone. */
export function wordsOf(header: string): readonly string[] {
  return header
    .slice(0, headerCharsMax)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/\be[\s_\p{Pd}]?mail/gu, 'email')
    .split(/[^a-z]+/)
    .flatMap((part) => compound.exec(part)?.slice(1) ?? [part])
    .filter((part) => part !== '');
}
