/**
 * What the words of a header, or of the label of a number, say: which name a telephone, and which a machine that cannot be called.
 *
 * Closed tables of words, without accents, digits or punctuation; of headers, labels and the text beside a number in a cell. Pure.
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

/** These name one beside a machine. Alone they may mean something else: pH, a voice, the head office. */
const phoneWordsBeside = words(
  `ph fon fone voice landline cellular hotline switchboard zentrale telefone telefoon telefonszam telefonu puhelin tlf tfno`,
);
const phoneElsewhere = /電話|电话|携帯|手机|전화|휴대폰|(?<!\p{L})(?:тел(?!екс|етайп)|моб)|τηλ/iu;

const otherMachine =
  /^(?:facsimile|telecopi|radiomessagerie|localizador|buscapersonas|cercapersone|telex|teletex|teletip|teletyp|fernschreib|texttelefon|semafoon|funkruf)|^(?:pager|beeper|bipeur|piepser|pieper|tty|tdd)$/;
/** The same in writing that has no Latin letters. */
const machineElsewhere =
  /ファ(?:ック|ク)ス|ファクシミリ|ポケ(?:ット)?ベル|テレックス|传真|傳真|팩스|факс|пейджер|телекс|телетайп/iu;

/**
 * Places and companies whose names hold the word, as far as they are known. Any other word that holds it is a fax, since people
 * make such words at will (`Bestellfax`, `Faxszám`): a place that is missing here costs a number, with a warning, but a fax that
 * is taken for a phone is written in silence.
 */
const namesWithFax =
  /(?<!\p{L})(?:fairfax|halifax|colfax|carfax|equifax|interfax|ceefax|(?:faxon|faxaflói|fax[aä]lven|faxe|fakse|faxinal|fax bay)(?!\p{L}))|(?:ハリ|フェア|エクイ)ファックス|(?:гали|интер|эквиа?|фэй?р)факс|(?:핼리|페어|에퀴)팩스/giu;

/** Between two numbers, or two kinds of them. Alternatives of a regular expression; white space or a dot is around each. */
export const conjunctions = 'and|und|et|y|e|i|és|og|och|ve|и|or|oder|ou|o|u|eller|lub|или|bzw|resp|&';
/** What parts two kinds of numbers, as in `Phone/Fax`. `ATS/TTY` is one kind. */
const between = new RegExp(
  `(?<!\\bats\\s?)[/&+,;|、・·•兼]|(?<=[\\s.])(?:${conjunctions}|with|mit|avec|con)(?=[\\s.])|(?<!\\p{L})(?:also|auch|aussi|también|anche)(?!\\p{L})`,
  'iu',
);
/** These part two kinds, too, or a kind and what it is of: `Tel.-Fax`, but `Telefon (Dienstfax)` and `Fax-Durchwahl`. */
const weaklyBetween = /(?<!(?<!\p{L})e\s?)\p{Pd}|[()[\]]/iu;
const plainFax = /^[\s.:]*(?:(?:tele)?fa(?:x|ks)|ファ(?:ック|ク)ス|传真|傳真|팩스|(?:теле)?факс)[\s.:]*$/iu;
const bothInOneWord = /(?<!\p{L})(?:tel\.?fax|fax\.?tel)(?!\p{L})/iu;

/**
 * Whether a header, or the label of a number, names a machine that cannot be called (fax, pager, telex, TTY): `alone`, or
 * `besidePhone`, where the number takes calls, too (`Phone/Fax`). In doubt it takes calls: a fax that is kept is one number too
 * many, and a phone that is left out cannot be called any more.
 */
export function machineIn(header: string): 'none' | 'alone' | 'besidePhone' {
  const text = header.slice(0, headerCharsMax).normalize('NFKC');
  if (!isOfMachine(text)) return 'none';
  return text.split(between).some((part) => isOfPhone(part) || isOfBoth(part)) ? 'besidePhone' : 'alone';
}

function isOfMachine(text: string): boolean {
  const other = text.replace(namesWithFax, ' ');
  return (
    machineElsewhere.test(other) || wordsOf(other).some((word) => otherMachine.test(word) || /fax|faks/.test(word))
  );
}

function isOfPhone(text: string): boolean {
  if (isOfMachine(text)) return false;
  const tables = [phoneWords, weakPhoneWords, phoneWordsBeside];
  return phoneElsewhere.test(text) || wordsOf(text).some((word) => tables.some((table) => table.has(word)));
}

function isOfBoth(text: string): boolean {
  const [first = '', ...others] = text.split(weaklyBetween).filter((part) => part.trim() !== '');
  const machines = others.filter(isOfMachine);
  if (machines.length > 0 && isOfPhone(first)) return machines.every((one) => plainFax.test(one));
  return bothInOneWord.test(text);
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
