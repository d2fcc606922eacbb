/**
 * Names of many languages in the code pages in which spreadsheet programs write them: those of Western Europe raise no doubt, and of the others
 * each file is said which encoding is right, with no word made wrong (`docs/bad-inputs.md`, "CSV").
 */
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { bytesIn, type CodePage, chooseCodePage, createWordCollector } from '#src/sources/code-page.ts';
import { detectEncoding } from '#src/sources/decode.ts';

/** Made up: each line is a person and a company. */
const western: Readonly<Record<string, string>> = {
  French:
    'Hélène Lefèvre;Société Générale\nFrançois Bœuf;Crédit Agricole\nZoé Sacré;Sacré-Cœur\nÉric Noël;Manœuvre & Frères\nBenoît Lecœur;Maître d’œuvre\nMaëlle Vœux;Œuvre de la Forêt\nGaëlle Sœur;Hôtel de l’Étoile\nLoïc Crèvecœur;Pêcherie du Môle\nŒdipe Garçon;CŒUR DE FRANCE\nAÏCHA LÉVÊQUE;Où ça\nJérôme Châtelain;N° 5\nMme d´Août;L’Haÿ',
  'French with German names':
    'Hélène Kœnig;Straßburger Bäckerei\nJürgen Bœuf;Société Müller\nRené Schœffer;Weiß & Fils\nAndré Kœchlin;Grüße',
  German:
    'Jörg Müller;Bäckerei Groß\nJürgen Höß;Äpfel & Öle „Übersee“\nZoë Weiß;Möbel Größer\nKäthe Strauß;STRAßENBAU KÖLN\nRené Lübke;Café Über – gestern\nÜmit Jäger;Gemüse 5 €',
  Spanish:
    'José Núñez;Compañía Española\nMaría Peña;Álvarez Ibáñez\nÓscar Ñandú;Güell e Hijos\nÍñigo Zúñiga;Logroño\nMª Ángeles Muñiz;3ª planta\nIsaías Briñón;¿Qué? ¡Sí!\nBegoña Echeverría;Peluquería Raúl',
  Portuguese:
    'João Gonçalves;Ação e Visão\nConceição Simões;São Tomé\nInês Camões;Três Irmãos\nLuís Magalhães;Construções Sá\nAntónio Guimarães;Mãe d’Água\nÂngela Patrício;Confecções Fênix\nTomás Falcão;1º andar',
  Italian:
    'Niccolò Salomè;Città di Forlì\nNicolò Cantù;Perché No\nGesù Bàrberi;Università e Libertà\nÈ così;Più qualità\nMarialucrezia Dall’Oglio;Caffè Virtù',
  Dutch:
    'Daniël van Oranje;Zeeën & Zonen\nChloë Kuijpers;Privé\nReünie Geërfd;Café België\nIndiër;Financiële Dienst\nJoëlle Hélène;Crèche de Zoeërd\nAndré Conciërge;’t Huis’',
  'Danish and Norwegian':
    'Søren Kjær;Århus Bådudlejning\nBjørn Ødegård;Tromsø Sjømat\nÅse Bærum;Grønnegård\nJørgen Sørensen;Fløjl & Æbler\nPål Østby;Smørrebrød ApS\nKåre Hægstad;Tønsberg Rør\nFrøydis Øye;Øl på Hjørnet',
  Swedish:
    'Åsa Sjögren;Malmö Färg\nGöran Östlund;Blåbär\nBjörn Ärlig;Räkor & Öl\nAndré Sköld;Håkans Smörgås\nPär Ljungström;Gävle',
  Finnish:
    'Päivi Hämäläinen;Jäätelö Oy\nVäinö Mäkelä;Pyörä\nJyrki Äijälä;Töölö\nÅke Määttä;Säästöpankki\nYrjö Kähkönen;Tšekki-Matkat\nSeppo Öhman;Työväen Lääkäri',
  Icelandic:
    'Þórður Guðmundsson;Þjóðleikhúsið\nÁsdís Sigurðardóttir;Ísfélag Eyja\nHalldór Ægisson;Fiskvinnslan Bæ\nÓlafur Þorsteinsson;Örninn\nSigþór Friðriksson;Ýsa og Þorskur\nÚlfhildur Jónsdóttir;Skálholt',
  Catalan:
    'Núria Solà;Col·legi Sant Jordi\nGonçal Farrés;Pastisseria Mercè\nÀngel Vicenç;Sabadell Mecànica\nÒscar Puigdemònt;Construccions Llorenç\nRaül Gràcia;Instal·lacions Bòria\nMònica Lluçà;Cafè de l’Òpera',
  Estonian:
    'Tõnu Kõiv;Jäämäe OÜ\nÜlle Pärn;Võru Pagar\nJüri Šmidt;Küünal & Õli\nŽanna Mägi;Tööriist\nKärt Tšernov;Põld\nMõttus Õunapuu;Jõgi AS',
  'English with signs':
    'O’Brien;Acme™ – “the best”…\nJames’ Café;it’s 5 €\nSmith;20 °C, £5, 10 m², ±3 ‰\nD’Arcy;better—faster—cheaper\nNaïve;© 2024 Acme®\nAnn;•\tone · two',
};

const others: readonly (readonly [language: string, label: string, text: string])[] = [
  [
    'Polish',
    'windows-1250',
    'Paweł Wałęsa;Łódź Meble\nGrażyna Śliwińska;Kraków Księgarnia\nJózef Źrebiec;Gdańsk Żegluga\nStanisław Grześ;Kościelna 5\nMałgorzata Żółć;Spółka Wiśniewski\nŁukasz Kamiński;Dąbrowa',
  ],
  [
    'Czech',
    'windows-1250',
    'Jiří Dvořák;Řeznictví Němec\nZdeněk Černý;Růžička a syn\nŠtěpán Vlček;Kovářství\nMarkéta Nováková;Lékárna U Věže\nOndřej Kučera;Tiskárna Brno',
  ],
  [
    'Slovak',
    'windows-1250',
    'Ľubomír Kováč;Železničná stanica\nTáňa Ďurišová;Košice Stavby\nĽudovít Šťastný;Lekáreň\nZuzana Hrušková;Vajcová\nJán Kráľ;Účtovníctvo',
  ],
  [
    'Hungarian',
    'windows-1250',
    'László Erdős;Győri Kenyér\nGergő Szűcs;Kőszeg Kft.\nErzsébet Tóth;Hűtőház\nIstván Kovács;Fürdő és Söröző\nÁgnes Szőke;Műhely',
  ],
  [
    'Croatian',
    'windows-1250',
    'Ivan Kovačić;Đurđevac Promet\nMarija Petrović;Kuća Šibenik\nŽeljko Jurić;Građevinar\nAnđela Lučić;Pekara Čakovec\nSlađana Maček;Voće',
  ],
  [
    'Romanian',
    'windows-1250',
    'Ionuţ Popovăţ;Brăila Construcţii\nŞtefan Muşat;Grădina Bucureşti\nRăzvan Câmpeanu;Întreprindere\nMădălina Ţăranu;Piaţa Sfânt',
  ],
  [
    'Polish',
    'iso-8859-2',
    'Paweł Wałęsa;Łódź Meble\nGrażyna Śliwińska;Kraków Księgarnia\nJózef Źrebiec;Gdańsk Żegluga\nStanisław Grześ;Kościelna 5',
  ],
  [
    'Turkish',
    'windows-1254',
    'Ayşe Yılmaz;İstanbul Tekstil\nDoğan Şahin;Işık İnşaat\nİbrahim Çelik;Güneş Eczanesi\nÖzgür Yıldız;Beşiktaş Balıkçı\nBüşra Öztürk;Ağaç İşleri',
  ],
  [
    'Lithuanian',
    'windows-1257',
    'Jonas Žukauskas;Šiaulių Duona\nRūta Petrauskienė;Ąžuolas\nDarius Čėsna;Vėjas ir Jūra\nEglė Butkevičiūtė;Įmonė Gėlės\nŠarūnas Grigaliūnas;Žvejų Namai',
  ],
  [
    'Latvian',
    'windows-1257',
    'Jānis Bērziņš;Rīgas Maize\nKristīne Kalniņa;Liepāja Būve\nĢirts Ozoliņš;Ķekava\nMārtiņš Līcis;Čiekurs\nIlze Āboliņa;Ūdens Ceļš',
  ],
  [
    'Russian',
    'windows-1251',
    'Иван Петров;ООО Ромашка\nАнна Шмидт;Казань Хлеб\nОльга Щербакова;Стройсервис\nЮрий Ёлкин;Мебель плюс',
  ],
  [
    'Russian',
    'koi8-r',
    'Иван Петров;ООО Ромашка\nАнна Шмидт;Казань Хлеб\nОльга Щербакова;Стройсервис\nЮрий Елкин;Мебель плюс',
  ],
  [
    'Russian',
    'ibm866',
    'Иван Петров;ООО Ромашка\nАнна Шмидт;Казань Хлеб\nОльга Щербакова;Стройсервис\nЮрий Елкин;Мебель плюс',
  ],
  [
    'Ukrainian',
    'windows-1251',
    'Олександр Шевченко;Київ Хліб\nЮлія Їжак;Добробут\nАндрій Ґалаган;Єдність\nОксана Левківська;Піч',
  ],
  [
    'Bulgarian',
    'windows-1251',
    'Георги Димитров;Пекарна София\nЙорданка Стоянова;Търговище\nПламен Ангелов;Българска роза',
  ],
  [
    'Greek',
    'windows-1253',
    'Γιώργος Παπαδόπουλος;Ελληνική Τράπεζα\nΜαρία Νικολάου;Φούρνος Αθήνα\nΕλένη Ιωάννου;Καφές\nΔημήτρης Οικονόμου;ΑΦΟΙ ΒΑΣΙΛΕΙΟΥ',
  ],
  ['Hebrew', 'windows-1255', 'דוד כהן;מאפיית השלום\nשרה לוי;חשמל וגז\nמשה מזרחי;ספרים בע״מ\nרחל אברהם;כלי בית'],
  [
    'Arabic',
    'windows-1256',
    'محمد العلي;شركة النور\nفاطمة حسن;مخبز المدينة\nأحمد إبراهيم;مكتبة الشرق\nليلى منصور;دار السلام',
  ],
  [
    'Thai',
    'windows-874',
    'สมชาย ใจดี;บริษัท ขนมไทย\nสมหญิง รักเรียน;ร้านอาหารบ้านสวน\nประเสริฐ ทองดี;ห้างหุ้นส่วน\nวิชัย มั่นคง;กาแฟดอย',
  ],
];

function chosen(text: string, label: string): Pick<CodePage, 'label' | 'doubt'> {
  const bytes = bytesIn(text, label);
  if (bytes === null) throw new Error(`not all of it is in ${label}: ${text}`);
  const collector = createWordCollector();
  collector.add(bytes);
  const { label: read, doubt } = chooseCodePage(collector.words());
  return { label: read, doubt };
}

const wordsOf = (text: string): readonly string[] => text.split(/[\n; ]/).filter((word) => /[^\p{ASCII}]/u.test(word));

describe.each(Object.entries(western))('%s in Windows-1252 is read as that', (_language, text) => {
  const capitals = text.replaceAll('ß', 'SS').toUpperCase();

  it.each([text, capitals])('without a doubt: %s', (all) => {
    expect(chosen(all, 'windows-1252')).toEqual({ label: 'windows-1252', doubt: null });
  });

  it('without a doubt: each line, each word', () => {
    const parts = [text, capitals].flatMap((all) => [...all.split('\n'), ...wordsOf(all)]);
    const doubted = parts.map((part) => [part, chosen(part, 'windows-1252').doubt] as const);
    expect(doubted.filter(([, doubt]) => doubt !== null)).toEqual([]);
  });
});

describe.each(others)('%s in %s', (_language, label, text) => {
  it('gets the right advice, and the word is shown as it was meant', async () => {
    const bytes = Buffer.from(bytesIn(text, label) ?? []);
    const { label: read, doubt } = await detectEncoding(() => Readable.from([bytes]), 'a.csv');
    expect([read, doubt?.label]).toEqual(['windows-1252', label]);
    expect(text).toContain(doubt?.meant);
  });

  it('gets the right advice or none: each line, each word', () => {
    const parts = [...text.split('\n'), ...wordsOf(text)];
    const advised = parts.map((part) => [part, chosen(part, label).doubt?.meant ?? null] as const);
    expect(advised.filter(([part, meant]) => meant !== null && !part.includes(meant))).toEqual([]);
  });
});
