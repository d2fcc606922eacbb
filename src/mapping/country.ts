/**
 * The country that a cell names: what people and programs write where a country belongs → the code of ISO 3166-1.
 *
 *   `DE`, `DEU`, `Germany`, `Deutschland`, `Allemagne`, `Alemania` → DE
 *
 * Names are those of the Unicode locale data in English, German, French and Spanish, with some that people use instead.
 * They are compared without accents, case, spaces and punctuation. A text that two countries could mean, such as `Congo`,
 * is none: nothing is guessed.
 */
import { type CountryCode, getCountries, isSupportedCountry } from 'libphonenumber-js/max';
import { quotedCell } from '#src/contacts/quoted-cell.ts';

const languages = ['en', 'de', 'fr', 'es'] as const;
/** No country has a longer name; a longer text is no country. */
const lengthMax = 100;

/** Names besides those of the locale data, in the form in which they are compared. */
const otherNames: Readonly<Partial<Record<CountryCode, string>>> = {
  AE: 'uae emirates vae eau',
  AT: 'republicofaustria republikosterreich',
  AU: 'commonwealthofaustralia',
  BE: 'belgie',
  BO: 'plurinationalstateofbolivia',
  BR: 'brasil',
  BY: 'weissrussland',
  CD: 'drc dcongo drcongo democraticrepublicofcongo democraticrepublicofthecongo zaire',
  CG: 'republicofthecongo',
  CH: 'svizzera helvetia swissconfederation confoederatiohelvetica',
  CI: 'ivorycoast cotedivoire',
  CN: 'peoplesrepublicofchina prc mainlandchina vrchina',
  CV: 'caboverde',
  CZ: 'czechrepublic cesko ceskarepublika tschechischerepublik republiquetcheque republicacheca',
  DE: 'bundesrepublikdeutschland brd frg federalrepublicofgermany',
  DK: 'danmark',
  ES: 'kingdomofspain',
  FI: 'suomi',
  FR: 'republiquefrancaise frenchrepublic',
  GB: 'uk greatbritain britain england scotland wales northernireland grossbritannien schottland nordirland grandebretagne angleterre ecosse granbretana inglaterra escocia unitedkingdomofgreatbritainandnorthernireland',
  GR: 'hellas hellenicrepublic',
  HK: 'hongkongsar',
  HR: 'hrvatska',
  HU: 'magyarorszag',
  IE: 'republicofireland eire irishrepublic',
  IR: 'islamicrepublicofiran',
  IT: 'italia',
  KP: 'dprk democraticpeoplesrepublicofkorea',
  KR: 'korea republicofkorea korearepublicof republicofsouthkorea',
  LA: 'laopdr laopeoplesdemocraticrepublic',
  MD: 'republicofmoldova moldovarepublicof',
  MK: 'macedonia republicofnorthmacedonia',
  MM: 'burma',
  NL: 'holland nederland niederlandeholland hollande holanda',
  NO: 'norge',
  PL: 'polska',
  PS: 'palestine stateofpalestine',
  RU: 'russianfederation russischefoderation federationderussie federacionrusa',
  SE: 'sverige',
  SI: 'slovenija',
  SK: 'slovakrepublic slovensko slowakischerepublik',
  SY: 'syrianarabrepublic',
  SZ: 'swaziland',
  TL: 'easttimor',
  TR: 'turkey turkiye turkei',
  TW: 'taiwanroc provinceofchinataiwan republicofchina chinesetaipei',
  TZ: 'unitedrepublicoftanzania',
  US: 'us unitedstatesofamerica america usofa vereinigtestaatenvonamerika amerika etatsunisdamerique estadosunidosdeamerica eeuu eua',
  VA: 'vatican holysee',
  VE: 'bolivarianrepublicofvenezuela',
  VN: 'vietnam socialistrepublicofvietnam',
};

/** ISO 3166-1 alpha-3 and alpha-2. */
const threeLetters = `
  ABW=AW AFG=AF AGO=AO AIA=AI ALA=AX ALB=AL AND=AD ARE=AE ARG=AR ARM=AM ASM=AS ATG=AG AUS=AU AUT=AT AZE=AZ BDI=BI
  BEL=BE BEN=BJ BES=BQ BFA=BF BGD=BD BGR=BG BHR=BH BHS=BS BIH=BA BLM=BL BLR=BY BLZ=BZ BMU=BM BOL=BO BRA=BR BRB=BB
  BRN=BN BTN=BT BWA=BW CAF=CF CAN=CA CCK=CC CHE=CH CHL=CL CHN=CN CIV=CI CMR=CM COD=CD COG=CG COK=CK COL=CO COM=KM
  CPV=CV CRI=CR CUB=CU CUW=CW CXR=CX CYM=KY CYP=CY CZE=CZ DEU=DE DJI=DJ DMA=DM DNK=DK DOM=DO DZA=DZ ECU=EC EGY=EG
  ERI=ER ESH=EH ESP=ES EST=EE ETH=ET FIN=FI FJI=FJ FLK=FK FRA=FR FRO=FO FSM=FM GAB=GA GBR=GB GEO=GE GGY=GG GHA=GH
  GIB=GI GIN=GN GLP=GP GMB=GM GNB=GW GNQ=GQ GRC=GR GRD=GD GRL=GL GTM=GT GUF=GF GUM=GU GUY=GY HKG=HK HND=HN HRV=HR
  HTI=HT HUN=HU IDN=ID IMN=IM IND=IN IOT=IO IRL=IE IRN=IR IRQ=IQ ISL=IS ISR=IL ITA=IT JAM=JM JEY=JE JOR=JO JPN=JP
  KAZ=KZ KEN=KE KGZ=KG KHM=KH KIR=KI KNA=KN KOR=KR KWT=KW LAO=LA LBN=LB LBR=LR LBY=LY LCA=LC LIE=LI LKA=LK LSO=LS
  LTU=LT LUX=LU LVA=LV MAC=MO MAF=MF MAR=MA MCO=MC MDA=MD MDG=MG MDV=MV MEX=MX MHL=MH MKD=MK MLI=ML MLT=MT MMR=MM
  MNE=ME MNG=MN MNP=MP MOZ=MZ MRT=MR MSR=MS MTQ=MQ MUS=MU MWI=MW MYS=MY MYT=YT NAM=NA NCL=NC NER=NE NFK=NF NGA=NG
  NIC=NI NIU=NU NLD=NL NOR=NO NPL=NP NRU=NR NZL=NZ OMN=OM PAK=PK PAN=PA PER=PE PHL=PH PLW=PW PNG=PG POL=PL PRI=PR
  PRK=KP PRT=PT PRY=PY PSE=PS PYF=PF QAT=QA REU=RE ROU=RO RUS=RU RWA=RW SAU=SA SDN=SD SEN=SN SGP=SG SHN=SH SJM=SJ
  SLB=SB SLE=SL SLV=SV SMR=SM SOM=SO SPM=PM SRB=RS SSD=SS STP=ST SUR=SR SVK=SK SVN=SI SWE=SE SWZ=SZ SXM=SX SYC=SC
  SYR=SY TCA=TC TCD=TD TGO=TG THA=TH TJK=TJ TKL=TK TKM=TM TLS=TL TON=TO TTO=TT TUN=TN TUR=TR TUV=TV TWN=TW TZA=TZ
  UGA=UG UKR=UA URY=UY USA=US UZB=UZ VAT=VA VCT=VC VEN=VE VGB=VG VIR=VI VNM=VN VUT=VU WLF=WF WSM=WS YEM=YE ZAF=ZA
  ZMB=ZM ZWE=ZW
`;

let countriesByName: ReadonlyMap<string, CountryCode> | null = null;

/** Null where the text names no country, or more than one. */
export function countryOf(text: string): CountryCode | null {
  if (text.length > lengthMax) return null;
  const code = text.trim().toUpperCase();
  if (isSupportedCountry(code)) return code;
  countriesByName ??= nameTable();
  return countriesByName.get(comparedForm(text)) ?? countriesByName.get(comparedForm(turned(text))) ?? null;
}

/** `Korea, Republic of` is how lists in alphabetical order write `Republic of Korea`. */
function turned(text: string): string {
  const [name = '', rest = ''] = text.split(',');
  return `${rest} ${name}`;
}

/** Spaces, punctuation, accents, case and a leading article make no difference, and `Saint` is `St`: `U.S.A.` is `usa`. */
function comparedForm(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('&', ' and ')
    .replace(/\bsaint/g, 'st')
    .replace(/[^\p{L}\s]/gu, '')
    .replace(/^\s*the\s/u, '')
    .replace(/\s/gu, '');
}

/** Built on first use: some thousand look-ups in the locale data. */
function nameTable(): ReadonlyMap<string, CountryCode> {
  const table = new Map<string, CountryCode>();
  for (const pair of threeLetters.trim().split(/\s+/)) {
    const [name = '', code = ''] = pair.split('=');
    if (isSupportedCountry(code)) table.set(name.toLowerCase(), code);
  }
  const locales = languages.flatMap((language) =>
    (['long', 'short'] as const).map((style) => new Intl.DisplayNames(language, { type: 'region', style })),
  );
  for (const country of getCountries()) {
    const shown = locales.flatMap((locale) => spellingsOf(locale.of(country) ?? ''));
    // Without abbreviations: RU is the United Kingdom in Spanish, and Russia everywhere else.
    for (const name of shown.map(comparedForm)) if (name.length > 3) table.set(name, country);
    for (const name of otherNames[country]?.split(' ') ?? []) table.set(name, country);
  }
  // Either of two countries, also in the languages that use the short name for one of them.
  table.delete('congo');
  return table;
}

/** `Österreich`, and `Oesterreich` as it is written where there are no umlauts. */
function spellingsOf(name: string): readonly string[] {
  const umlauts: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue' };
  return [name, name.normalize('NFC').replace(/[äöüÄÖÜ]/g, (letter) => umlauts[letter] ?? letter)];
}

/** Of a phone number without a country code, where no country is known for it. */
export const countryMissingCode = 'phoneCountryMissing';

const inUnknownCountry = /^the phone number has no country code, and "(.*)" holds no country that is known/s;

/** What is wrong with such a number whose row names a country that none is. No default country replaces it: nothing is guessed. */
export function unknownCountry(column: string, text: string): { readonly message: string; readonly hint: string } {
  return {
    message: `the phone number has no country code, and "${column}" holds no country that is known`,
    hint: `Correct ${quotedCell(text)} in "${column}" (a code such as US, or the name of a country), or write the number with + and its country code.`,
  };
}

const inSeveralCountries =
  'the phone number has no country code, and the addresses of its row are in several countries';

/** What is wrong with such a number whose row names several countries. @param names as the cells hold them. */
export function severalCountries(names: readonly string[]): { readonly message: string; readonly hint: string } {
  const [first = '', second = ''] = names;
  return {
    message: inSeveralCountries,
    hint: `Write the number with + and its country code: ${quotedCell(first)} and ${quotedCell(second)} may both be meant.`,
  };
}

/** Whether the row itself names a country for the number, although none can be taken. @param message of a problem or a warning. */
export function isOfOwnCountry(message: string): boolean {
  return message.startsWith(inSeveralCountries) || unknownCountryColumn(message) !== null;
}

/** The column of `unknownCountry`; null for a number of which no country was said. @param message of a problem or a warning. */
export function unknownCountryColumn(message: string): string | null {
  return inUnknownCountry.exec(message)?.[1] ?? null;
}
