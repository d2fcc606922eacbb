/** What a column's name says of what is in it, where that is not the person's own, or nothing that can be called. Pure. */
import { wordsOf } from '#src/sources/number-words.ts';

/** Numbers of other things than the person, which may be unique in a short file. Parts of words without accents. */
const otherThings =
  /plz|post|zip|^cp$|^cep$|^cap$|haus|house|street|strasse|stras|door|apartment|zimmer|room|tax|vat|steuer|ust|nif|siret|siren|iban|bic|swift|konto|bank|card|karte|invoice|rechnung|factur|order|bestell|auftrag|pedido|commande|product|produkt|artikel|item|country|land|pays|pais|currency|language|sprach|area|dial|region|state|city|discount|promo|coupon|gutschein|version|count|total|anzahl|time|lfd|laufend|row|line|zeile|ssn|social|sozial|passport|ausweis|hr$|handelsregister|register|tracking|sendung/;
/** What is counted, measured or paid: amounts, dates, ages. Whole words. */
const measures =
  /^(?:amount|balance|price|cost|costs|fee|sum|revenue|turnover|budget|salary|income|credit|debit|payment|paid|due|spent|value|volume|quantity|qty|size|weight|height|score|points|rating|rank|age|year|month|day|date|birthday|born|since|hours|percent|rate|deals|visits|betrag|saldo|preis|kosten|gebuhr|summe|umsatz|gehalt|menge|punkte|alter|jahr|monat|tag|datum|geburtstag|geburtsdatum|geboren|seit|stunden|wert|montant|solde|prix|cout|frais|somme|chiffre|salaire|quantite|annee|mois|jour|naissance|depuis|heures|valeur|importe|monto|precio|coste|costo|suma|ingresos|salario|cantidad|puntos|edad|ano|mes|dia|fecha|nacimiento|desde|horas|valor|bedrag)$/;

/** Who else may be meant beside an address or a number: beginnings of words without accents, and below whole words. */
const otherPeople =
  /^(?:owner|assigned|manager|assistant|agent|referrer|supervisor|boss|spouse|husband|wife|parent|mother|father|guardian|emergency|vorgesetzt|sachbearbeit|assisten|betreu|ehepartner|ehefrau|ehemann|notfall|notruf|eltern|mutter|vater|erziehungsberechtigt|responsable|urgence|conjoint|mere$|pere$|jefe|jefa|urgencia|emergencia|propietari|conyuge|padre|madre|asistente|encargad|teacher|physician|carer|caregiver|sibling|relative|nextofkin|lehrer|hausarzt|angehorig|ehegatt|geschwister|lebensgefahrt|medecin|professeur|enseignant|medico|medica$|profesor|familiar)/;
const otherPersons =
  /^(?:partners?|partner(?:in|innen)|kin|child|children|son|daughter|brother|sister|doctors?|gp|coach|trainer|tutor|kind|kinder|kindes|sohn|tochter|bruder|schwester|arzt|arztin|partenaires?|enfants?|fils|fille|frere|soeur|pareja|hij[oa]s?|herman[oa]s?)$/;

/** `E-Mail Vorgesetzter`, `Emergency Phone`: the values may be another person's. */
export function mayBeOfAnotherPerson(name: string): boolean {
  return wordsOf(name).some((part) => otherPeople.test(part) || otherPersons.test(part));
}

/** `PLZ-Nr`, `Order Number`: the number of a thing. @param own words that say that the person is meant all the same. */
export function isNumberOfOther(name: string, own: RegExp | null = null): boolean {
  return wordsOf(name).some((part) => otherThings.test(part) && own?.test(part) !== true);
}

/** `Balance`, `Geburtsdatum`: no number that identifies anything. */
export function isMeasure(name: string): boolean {
  return wordsOf(name).some((part) => measures.test(part));
}
