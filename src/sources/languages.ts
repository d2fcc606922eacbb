/**
 * What text beyond ASCII looks like in the languages of a code page: how usual each letter is, and where it stands. So the words of a
 * file cost little in the code page that they were written in, and much in the others. Pure.
 *
 * A cost is about how surprising a character is, from 0.5 to 12: the cost of a word is the sum over its characters beyond ASCII.
 */

/** Code pages with one byte for each character, as `TextDecoder` knows them. Of two under which a file is the same, the first is named. */
export const codePages = [
  ...(['windows-1252', 'macintosh', 'windows-1250', 'windows-1251', 'windows-1253', 'windows-1254'] as const),
  ...(['windows-1255', 'windows-1256', 'windows-1257', 'windows-874'] as const),
  ...(['iso-8859-2', 'koi8-r', 'koi8-u', 'ibm866', 'iso-8859-5'] as const),
] as const;
export type CodePageLabel = (typeof codePages)[number];

interface Language {
  /** Small letters beyond ASCII, in three classes: the usual ones, those that are found in most texts, and the rare ones. */
  readonly letters: readonly [usual: string, found: string, rare: string];
  /** Of a letter: what is in front of it and behind it, in small letters, with `_` in its place and a space where the word ends. */
  readonly places?: Readonly<Record<string, RegExp>>;
}

const other = '[^aeiouyäöüáéíóúâêîôûàèìòùëïåæøœ]';
/** `Tšernov`, `Šmidt`: not between other consonants. */
const sibilant = /(?:^|[^\p{L}]|[aeiouyäöüõt])_|_[aeiouyäöüõ]/u;

const french: Language = {
  letters: ['éèçê', 'ëîïôâàûüœ', 'ùÿæöäáíóñ'],
  places: {
    // `Cœur`, `Œuvrard`, `Kœnig`: a vowel, beside no other one but u and i.
    œ: new RegExp(`(?:^|${other})_[uibcdfghjklmnpqrstvwxz]`, 'u'),
    ç: /_[aoueâôûàoœé' ]/,
    è: new RegExp(`_${other}`, 'u'),
    ê: new RegExp(`_${other}`, 'u'),
    à: /_(?:[ \-'’]|$)/,
    ù: /_(?:[ \-'’]|$)/,
  },
};
const german: Language = {
  letters: ['üöäß', 'é', 'èàçôáóíëê'],
  places: { ß: /[aeiouyäöü]_/ },
};
const spanish: Language = {
  letters: ['áéíóñ', 'úü', 'çàèòï'],
  places: { ñ: /(?:^|[^\p{L}]|[aeiouáéíóúün])_(?:[aeiouáéíóú]| |$)/u },
};
const portuguese: Language = {
  letters: ['ãçáéíóê', 'âôúõ', 'àüñ'],
  places: { ã: /_(?:[oesiz]|[^\p{L}]|$)/u, õ: /_(?:e|[^\p{L}]|$)/u, ç: /_[aouãõáóâôêéú]/ },
};
const italian: Language = {
  letters: ['àòèùìé', '', 'îóúíç'],
  places: { à: /_(?!\p{L})/u, ò: /_(?!\p{L})/u, ù: /_(?!\p{L})/u, ì: /_(?!\p{L})/u, è: /_(?!\p{L})/u },
};
const catalan: Language = {
  letters: ['àèéíóò', 'çúïü', 'ñ'],
  places: { è: new RegExp(`_${other}`, 'u'), ò: new RegExp(`_(?:i|${other})`, 'u') },
};
const dutch: Language = {
  letters: ['ëéï', 'èöüç', 'áóàêîâôí'],
  places: { è: new RegExp(`_${other}`, 'u'), ê: new RegExp(`_${other}`, 'u') },
};
const nordic: Language = {
  letters: ['øåæ', 'éöüä', 'èêóòâíôðáúý'],
  places: { æ: new RegExp(`(?:^|${other}|[jiv])_(?:${other}|$)`, 'u'), ø: /(?:^|[^aeou])_|_y/u },
};
const swedish: Language = { letters: ['äö', 'åé', 'üšžàèáíóøæ'], places: { š: sibilant, ž: sibilant } };
const estonian: Language = {
  letters: ['õäüö', 'šž', 'é'],
  places: { õ: new RegExp(`(?:^|${other})_`, 'u'), š: sibilant, ž: sibilant },
};
const icelandic: Language = {
  letters: ['áíóðúö', 'éýþæ', 'ø'],
  places: {
    ð: /[aeiouyáéíóúýöærlfgøn]_/,
    þ: /(?:^|[^\p{L}aeiouyáéíóúýöæ])_[aeiouyáéíóúýöærvj]|[bdfghjklmnprstvx]_[aeiouyáéíóúýöærvj]/u,
    æ: new RegExp(`(?:^|${other})_`, 'u'),
  },
};
const albanian: Language = { letters: ['ë', 'ç', ''] };

const slavicSibilant = /(?:^|[^\p{L}]|[aeiouyáéíóúýůěôrlnmvtp])_|_[aeiouyáéíóúýůěô]/u;

const polish: Language = { letters: ['łóńąęśż', 'ćź', 'éüöä'] };
const czech: Language = {
  letters: ['áíéřčžšěýů', 'ňúťďó', 'öüäľ'],
  places: { ě: /[^aeiouyáéíóúý]_/, š: slavicSibilant, ž: slavicSibilant },
};
const slovak: Language = {
  letters: ['áíčšžéýľú', 'ňťďóôä', 'ŕĺěřöü'],
  places: { š: slavicSibilant, ž: slavicSibilant },
};
const hungarian: Language = { letters: ['áéóöíőü', 'űú', 'ä'] };
const southSlavic: Language = { letters: ['čćšž', 'đ', 'éöü'], places: { š: slavicSibilant, ž: slavicSibilant } };
const romanian: Language = { letters: ['ăşţâî', '', 'éöüáó'] };
const turkish: Language = { letters: ['ışçüöğ', 'İ', 'âîû'], places: { ğ: /[aeıioöuüâîû]_/ } };
const lithuanian: Language = { letters: ['šėžčū', 'ųįąę', 'é'] };
const latvian: Language = { letters: ['āīšēņū', 'ķļčžģ', 'ōŗéü'] };

const russian: Language = { letters: ['оеаинтср', 'влкмдпуяыьгзб', 'чйхжшюцщэфъё'] };
const ukrainian: Language = { letters: ['оаниірвт', 'екслдмпуязьбг', 'чйхцжїєщшфюґ'] };
const bulgarian: Language = { letters: ['аиоентрс', 'влкдмпзягъбуч', 'цйжщхшфюьђјљњћџѓќѕ'] };
const greek: Language = {
  letters: ['ατοινσερ', 'ςηκπμλυόίάδήέγ', 'χύθώβφζξψϊϋΐΰ'],
  places: { ς: /_(?!\p{L})/u, σ: /_\p{L}/u },
};
const hebrew: Language = { letters: ['יהולראתב', 'משנעםדחפקטכגן', 'זסךצץףײױװ'] };
const arabic: Language = { letters: ['الينمروت', 'بةعدسفهكقحجشأ', 'صطخضذثئغزظءؤآىإپچگکژیٹڈڑںہھے'] };
const thai: Language = {
  letters: ['านรอกเงม่้', 'ยลวดทสตะปบคหแจพชขใไโผีัิุูื์็ำ', 'ซธศณถฐญภษฉฝฟฆฎฏฌฤฑฒฦๆ๊๋ึ'],
};

const western = [french, german, spanish, portuguese, italian, catalan, dutch, nordic, swedish, estonian] as const;
const western1252 = [...western, icelandic, albanian];
const central = [polish, czech, slovak, hungarian, southSlavic, romanian, german];
const cyrillic = [russian, ukrainian, bulgarian];
const languages: Readonly<Record<CodePageLabel, readonly Language[]>> = {
  'windows-1252': western1252,
  macintosh: western1252,
  'windows-1250': central,
  'iso-8859-2': central,
  'windows-1251': cyrillic,
  'koi8-r': [russian],
  'koi8-u': [ukrainian],
  ibm866: [russian],
  'iso-8859-5': cyrillic,
  'windows-1253': [greek],
  'windows-1254': [turkish, german],
  'windows-1255': [hebrew],
  'windows-1256': [arabic],
  'windows-1257': [lithuanian, latvian, estonian],
  'windows-874': [thai],
};

/** Of a letter, by its class. */
const classCosts = [1.5, 3, 5] as const;
const notOfLanguage = 8;
/** A letter where its language has it hardly, such as an `è` before a vowel. */
const wrongPlace = 4;
/** A capital inside a word; another script in the middle of a word. */
const wrongShape = 8;
const control = 12;

/** Of a text in a code page: for each of its languages, what its characters beyond ASCII cost. */
export function costsOf(text: string, isForeign: readonly boolean[], label: CodePageLabel): readonly number[] {
  const chars = [...text];
  const isLetterAt = chars.map((char) => isWordLetter(char));
  const ownCost = sumOver(isForeign, (at) =>
    isLetterAt[at] ? shapeCost(chars, isForeign, at) : signCost(chars, isForeign, at),
  );
  const small = chars.map(lower);
  return languages[label].map(
    (language) => ownCost + sumOver(isForeign, (at) => (isLetterAt[at] ? letterCost(language, small, at) : 0)),
  );
}

function sumOver(isForeign: readonly boolean[], costAt: (at: number) => number): number {
  return isForeign.reduce((sum, isOne, at) => (isOne ? sum + costAt(at) : sum), 0);
}

function letterCost({ letters, places }: Language, small: readonly string[], at: number): number {
  const char = small[at] ?? '';
  const found = letters.findIndex((some) => some.includes(char));
  if (found < 0) return notOfLanguage;
  const place = places?.[char];
  if (place === undefined) return classCosts[found] ?? notOfLanguage;
  const around = `${small.slice(0, at).join('').trim()}_${small.slice(at + 1).join('')}`;
  return (classCosts[found] ?? notOfLanguage) + (place.test(around) ? 0 : wrongPlace);
}

/** What no language has: a capital behind a small letter, Latin letters beside those of another script, many letters beyond ASCII in a row. */
function shapeCost(chars: readonly string[], isForeign: readonly boolean[], at: number): number {
  const [char = '', before = ' ', after = ' '] = [chars[at], chars[at - 1], chars[at + 1]];
  if (/\p{Cc}|\ufffd/u.test(char)) return control;
  const isLatin = /\p{Script=Latin}/u.test(char);
  if (!isLatin) {
    if (/\p{Script=Latin}/u.test(before) || /\p{Script=Latin}/u.test(after)) return wrongShape;
    // A mark belongs to a letter.
    if (/\p{M}/u.test(char)) return /[\p{L}\p{M}]/u.test(before) ? 0 : wrongShape;
    // A single letter may be a sign as well.
    if (!isWordLetter(before) && !isWordLetter(after)) return 3;
  } else if (isForeign[at - 1] && isForeign[at + 1] && isWordLetter(before) && isWordLetter(after)) return wrongPlace;
  if (isUpper(char)) return isSmall(before) ? wrongShape : 0;
  if (!isSmall(char)) return 0;
  if (isUpper(after)) return wrongShape;
  return isUpper(before) && isUpper(chars[at - 2] ?? ' ') ? wrongShape : 0;
}

const fine = 0.5;
const unusual = 2;
const besideSign = 5;
const odd = 6;
const wrong = 9;
/** What is in front of an apostrophe (`O’Brien`, `qu’il`, `dell’`, `’n’`) or behind it (`it’s`, `James’`). */
const beforeApostrophe = /(?<!\p{L})\p{L}{0,2}$|(?:qu|ll|ujourd|entr|prud|grand)$/iu;
const behindApostrophe = /^(?:[sdmt]|re|ll|ve)?(?!\p{L})/iu;
/** A range, a break or a hard space between whole words. */
const betweenWords = /(?:^|\P{L})\p{L}{2,}[–—\u00a0](?:\p{Lu}|\p{L}{3})/u;
const pairSigns = '’‘“”„‚«»‹›…–—\u00a0';
const usualSigns = '\u00a0\u00ad€£¥¢¤§©®™°•·–—…“”„‘’‚«»‹›¿¡²³¹½¼¾±×÷µªº%‰†‡´¨¸¶¬¦№';
/** Signs that words begin with, and those behind one. */
const openingSigns = '‘“„‚«‹¿¡–—•·§©£¥±€';
const closingSigns = '®™©…”»›“–—‘’%‰†';

/** Quotes, dashes and signs belong beside words; an apostrophe belongs into them. */
function signCost(chars: readonly string[], isForeign: readonly boolean[], at: number): number {
  const [char = '', before = ' ', after = ' '] = [chars[at], chars[at - 1], chars[at + 1]];
  if (/\p{Cc}|\ufffd/u.test(char)) return control;
  const [front, rest] = [chars.slice(0, at).join(''), chars.slice(at + 1).join('')];
  const neighbours = [at - 1, at + 1].flatMap((beside) => (isForeign[beside] ? [chars[beside] ?? ''] : []));
  const besideCost = neighbours.reduce((sum, beside) => sum + pairCost(char, beside), 0);
  if ((char === '’' || char === '´') && besideCost < besideSign)
    return beforeApostrophe.test(front) || behindApostrophe.test(rest) ? fine : odd;
  const [inFront, behind] = [isLetter(before), isLetter(after)];
  // `1º`, `Mª`, `Nº`, `N°`, `m²`, `20°C`
  if ('ªº°'.includes(char) && (/[\d.]/.test(before) || (/^[a-z]$/i.test(before) && !isLetter(chars[at - 2] ?? ' '))))
    return fine;
  if ('²³'.includes(char) && /(?:\P{L}|^)(?:[ckmdh]?m)$/iu.test(front) && !behind) return fine;
  if (char === '·' && /l/i.test(before) && /l/i.test(after)) return fine;
  if ('׳״'.includes(char) && /\p{Script=Hebrew}/u.test(before)) return fine;
  if (inFront && behind) {
    if (!'–—\u00a0'.includes(char)) return wrong;
    return betweenWords.test(`${front}${char}${rest}`) ? unusual : odd;
  }
  if (!usualSigns.includes(char)) return odd;
  if (besideCost > 0) return besideCost;
  if (/\s|\u00ad/u.test(char)) return fine;
  if (inFront) {
    if ('‘“'.includes(char)) return /[‚„“‘]/.test(front) ? fine : odd;
    return closingSigns.includes(char) ? fine : odd;
  }
  if (behind) return openingSigns.includes(char) ? openingCost(char) : odd;
  return fine;
}

/** Two signs are seldom neighbours, but for those of a sentence: `…”`, `« `. */
function pairCost(char: string, beside: string): number {
  if (isWordLetter(beside)) return 0;
  return pairSigns.includes(char) && pairSigns.includes(beside) ? unusual : besideSign;
}

/** `€5` is usual, `€pfel` is not. */
function openingCost(char: string): number {
  if ('£¥€'.includes(char)) return odd;
  return '•·±§'.includes(char) ? unusual : fine;
}

/** A letter of words, and no sign that Unicode counts among letters (`ª`, `µ`, `ƒ`, `ˆ`). */
function isWordLetter(char: string): boolean {
  return /[\p{L}\p{M}]/u.test(char) && !/[ªºµƒ\p{Lm}]/u.test(char);
}

function isLetter(char: string): boolean {
  return /[\p{L}\p{M}]/u.test(char) && !/[ªº]/.test(char);
}

function isSmall(char: string): boolean {
  return /\p{Ll}/u.test(char);
}

function isUpper(char: string): boolean {
  return /\p{Lu}/u.test(char);
}

/** `İ` would become two characters. */
function lower(char: string): string {
  return char === 'İ' ? char : char.toLowerCase();
}
