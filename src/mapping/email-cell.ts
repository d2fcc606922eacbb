/**
 * E-mail addresses: plausible, at most 254 characters, lower case in the domain only (`rules.md`).
 *
 * One cell may hold several, as the exports of CRMs join them: `;`, `,`, `|`, ` ::: `, line breaks (`exports.md`).
 */
import { bad, good, type Reading } from './flaw.ts';
import { characterFlaw } from './text-cell.ts';

const addressLengthMax = 254;
const localPart = /^[^\s@,;:<>()[\]"\\]{1,64}$/u;
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;

/** Cuts a cell into its addresses. None of the separators may stand in an address. */
export function splitEmails(text: string): readonly string[] {
  return text
    .split(/:::|[;,|\r\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function readEmail(text: string): Reading<string> {
  const hint = 'Write one address like anna@example.com, or leave the cell blank.';
  const flaw = characterFlaw(text);
  if (flaw !== null) return flaw;
  const address = text
    .normalize('NFC')
    .trim()
    .replace(/^mailto:/i, '');
  if ([...address].length > addressLengthMax) {
    return bad('emailInvalid', `the e-mail address is longer than ${addressLengthMax} characters`, hint);
  }
  const at = address.lastIndexOf('@');
  if (at < 0) return bad('emailInvalid', 'the e-mail address has no @', hint);
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  if (!localPart.test(local)) return bad('emailInvalid', 'the part before the @ is no e-mail name', hint);
  const labels = domain.split('.');
  if (labels.length < 2 || !labels.every((label) => domainLabel.test(label)) || /^\d+$/.test(labels.at(-1) ?? '')) {
    return bad('emailInvalid', 'the part after the @ is no domain', hint);
  }
  return good(`${local}@${domain.toLowerCase()}`.normalize('NFC'));
}
