/**
 * What the words of a header, or of the label of a number, say: which name a telephone, and which a machine that cannot be called.
 *
 * Closed tables of words, without accents, digits or punctuation; of headers, labels and the text beside a number in a cell. Pure.
 */

import { withoutRequirement } from './column-name.ts';

/** The words of a table, separated by spaces or line breaks. */
export const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Any of these words names a telephone. */
export const phoneWords = words(
  `phone phones telephone smartphone cellphone telefon telefonnummer rufnummer handy handynummer mobilnummer mobiltelefon
  mobilfunk mobilfunknummer festnetz festnetznummer telefono telefonos telefonnr telnr telnummer rufnr handynr mobilnr
  mobiltel diensthandy firmenhandy geschaftshandy privathandy privattelefon festnetztelefon
  mobiltelefonnummer mobiltelefonnr mobilfunknr mobilrufnummer handyrufnummer diensthandynummer firmenhandynummer
  privathandynummer diensttelefon diensttelefonnummer geschaftstelefon geschaeftstelefon geschaftstelefonnummer
  burotelefon buerotelefon firmentelefon firmentelefonnummer privattelefonnummer festnetzrufnummer`,
);
/** These count only beside known words: `Mobile` and `Tel. privat`, not `Mobile App`. */
export const weakPhoneWords = words(
  'mobile mobil cell tel gsm portable cellulaire fixe fijo movil celular durchwahl direktwahl',
);
/** Which number or address it is. */
export const qualifiers = words(
  `number numbers n no nr num numero nummer address adresse direccion value default primary secondary main other direct
  contact kontakt customer kunde kunden client cliente company firma firmen
  empresa entreprise societe work business office home private personal
  privat geschaftlich geschaeftlich dienstlich dienst beruflich arbeit buro buero zentrale weitere sonstige travail bureau domicile maison personnel
  professionnel professionnelle pro personnelle perso profesional principal autre otro trabajo casa oficina particular electronico electronique de du d la le el del the`,
);

/** These name one beside a machine. Alone they may mean something else: pH, a voice, the head office. */
const phoneWordsBeside = words(
  `ph fon fone voice landline cellular hotline switchboard zentrale telefone telefoon telefonszam telefonu puhelin tlf tfno`,
);
const phoneElsewhere = /電話|电话|携帯|手机|전화|휴대폰|(?<!\p{L})(?:тел(?!екс|етайп)|моб)|τηλ/iu;
/** Beside these, too, in the text beside a number in a cell: where a machine stands, and what it is for. */
const purposes = words(
  `ats empfang sekretariat buchhaltung vertrieb verwaltung verkauf einkauf service kanzlei praxis lager werk abteilung abt
  bestellung bestellungen rechnung rechnungen zuhause geschaft reception sales billing orders accounting department dept
  branch headquarters secretariat accueil comptabilite ventes ventas compras administracion recepcion ufficio kantoor
  zakelijk thuis line anschluss gerat geraet machine only nur cislo szam numaras numarasi numer`,
);

const otherMachine =
  /^(?:facsimile|telecopi|radiomessagerie|localizador|buscapersonas|cercapersone|telex|teletex|teletip|teletyp|fernschreib|texttelefon|semafoon|funkruf)|^(?:pager|beeper|bipeur|piepser|pieper|tty|tdd)$/;
/** The same in writing that has no Latin letters. */
const machineElsewhere =
  /ファ(?:ック|ク)ス|ファクシミリ|ポケ(?:ット)?ベル|テレックス|传真|傳真|팩스|факс|пейджер|телекс|телетайп/iu;
const cyrillic = '\\p{Script=Cyrillic}*';
/** Words of the text beside a number that have no Latin letters. */
const knownElsewhere = new RegExp(
  `(?<!\\p{L})(?:${cyrillic}(?:факс|пейджер|телекс|телетайп)|тел|моб|рабоч|домашн|личн|номер)${cyrillic}|会社|自宅|番号|号码|번호|兼|${machineElsewhere.source}|${phoneElsewhere.source}`,
  'iu',
);

/**
 * Places and companies whose names hold the word, as far as they are known. Any other word that holds it is a fax, since people
 * make such words at will (`Bestellfax`, `Faxszám`): a place that is missing here costs a number, with a warning, but a fax that
 * is taken for a phone is written in silence.
 */
const namesWithFax =
  /(?<!\p{L})(?:fairfax|halifax|colfax|carfax|equifax|interfax|ceefax|(?:faxon|faxaflói|fax[aä]lven|faxe|fakse|faxinal|fax bay)(?!\p{L}))|(?:ハリ|フェア|エクイ)ファックス|(?:гали|интер|эквиа?|фэй?р)факс|(?:핼리|페어|에퀴)팩스/giu;

/** Between two numbers, or two kinds of them. Alternatives of a regular expression; white space or a dot is around each. */
export const conjunctions = 'and|und|et|y|e|i|és|og|och|ve|и|or|oder|ou|o|u|eller|lub|или|bzw|resp|&';
const withWords = 'with|mit|avec|con|plus|sowie|inkl|incl';
const alsoWords = 'also|auch|aussi|también|anche|também|också|også|ook|też|także|также|zugleich';
/** What parts two kinds of numbers, as in `Phone/Fax`. `ATS/TTY` is one kind. */
const between = new RegExp(
  `(?<!\\bats\\s?)[/&+,;|、・·•兼]|(?<=[\\s.])(?:${conjunctions}|${withWords})(?=[\\s.])|(?<!\\p{L})(?:${alsoWords})(?!\\p{L})`,
  'iu',
);
/** Before a fax it may part it from a place where people are called: `Büro/Fax`. `Fax/Büro` is one kind. */
const stroke = /(?<!\bats\s?)[/、・·•兼]/iu;
/** It joins a fax with what else the number is of, also with the number itself: `Home & Fax`, `und Fax`. */
const joint = new RegExp(`[&+]|(?<![^\\s.([])(?:${conjunctions}|${withWords})(?=[\\s.])`, 'iu');
/** The number is not of a fax alone, or not of one at all: `auch Fax`, `kein Fax`. `No. Fax` is a number. */
const notAlone = new RegExp(
  `(?<!\\p{L})(?:${alsoWords}|kein\\p{L}*|not|non|nicht|never|nie|niet|ohne|without|sans|sin|senza|pas|geen|zonder|bez|nem|nincs|ikke|inte|ingen|yok|не|нет|без)(?!\\p{L})|(?<!\\p{L})no(?=[\\s\\p{Pd}]*(?:tele)?fa(?:x|ks))|不可|なし|無し|없음`,
  'iu',
);
/** These part two kinds, too, or a kind and what it is of: `Tel.-Fax`, but `Telefon (Dienstfax)` and `Fax-Durchwahl`. */
const weaklyBetween = /(?<!(?<!\p{L})e\s?)\p{Pd}|[()[\]]/iu;
const plainFax = /^[\s.:]*(?:(?:tele)?fa(?:x|ks)|ファ(?:ック|ク)ス|传真|傳真|팩스|(?:теле)?факс)[\s.:]*$/iu;
const bothInOneWord = /(?<!\p{L})(?:tel\.?fax|fax\.?tel)(?!\p{L})/iu;

/**
 * Whether a header, or the label of a number, names a machine that cannot be called (fax, pager, telex, TTY): `alone`, or
 * `besidePhone`, where the number takes calls, too (`Phone/Fax`), or `inDoubt` (`Büro/Fax`, `auch Fax`). In doubt it takes calls: a
 * fax that is kept is one number too many, and a phone that is left out cannot be called any more.
 */
export function machineIn(header: string): 'none' | 'alone' | 'besidePhone' | 'inDoubt' {
  const text = header.slice(0, headerCharsMax).normalize('NFKC');
  if (!isOfMachine(text)) return 'none';
  if (text.split(between).some((part) => isOfPhone(part) || isOfBoth(part))) return 'besidePhone';
  return notAlone.test(text) || isJoined(text) || isBehindStroke(text) ? 'inDoubt' : 'alone';
}

/**
 * The same of the texts before and behind a number in a cell, which may be a label or anything else: `none` where a word is
 * unknown, as in `Fax auf Anfrage`, but not for a label before the number that begins or ends with the machine.
 */
export function machineBeside(before: string, behind: string): ReturnType<typeof machineIn> {
  const text = `${before} , ${behind}`;
  const machine = text.length > headerCharsMax ? 'none' : machineIn(text);
  if (machine === 'none' || areAllKnown(text)) return machine;
  return machine === 'alone' && isPlainLabel(before) ? 'alone' : 'none';
}

function isOfMachine(text: string): boolean {
  const other = text.replace(namesWithFax, ' ');
  return machineElsewhere.test(other) || wordsOf(other).some(isMachine);
}

function isMachine(word: string): boolean {
  return otherMachine.test(word) || /fax|faks/.test(word);
}

function isJoined(text: string): boolean {
  const parts = text.split(joint);
  const isOther = (part: string, index: number): boolean => !isOfMachine(part) && (index === 0 || /\p{L}/u.test(part));
  return parts.length > 1 && parts.some(isOther);
}

function isBehindStroke(text: string): boolean {
  const parts = text.split(stroke);
  const isPlace = (part: string): boolean => /\p{L}/u.test(part) && !isOfMachine(part);
  return parts.some((part, index) => isPlace(part) && parts.slice(index + 1).some(isOfMachine));
}

function areAllKnown(text: string): boolean {
  const others = [notAlone, joint, knownElsewhere].reduce(
    (left, known) => left.split(known).join(' '),
    text.normalize('NFKC'),
  );
  if (/[^\P{L}\p{Script=Latin}]/u.test(others)) return false;
  const tables = [phoneWords, weakPhoneWords, phoneWordsBeside, qualifiers, purposes];
  return wordsOf(others).every(
    (word) => word.length === 1 || isMachine(word) || tables.some((table) => table.has(word)),
  );
}

/** `Fax Sekretariat:`, not `Fax, bitte anrufen:`. */
function isPlainLabel(text: string): boolean {
  const parts = wordsOf(text);
  return (
    !/[,;|()[\]!?]/.test(text) && [parts.at(0), parts.at(-1)].some((word) => word !== undefined && isMachine(word))
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
  return withoutRequirement(header.slice(0, headerCharsMax))
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/\be[\s_\p{Pd}]?mail/gu, 'email')
    .split(/[^a-z]+/)
    .flatMap((part) => compound.exec(part)?.slice(1) ?? [part])
    .filter((part) => part !== '');
}
