/**
 * The phone number that a request names. 4.5, what is answered for one that the workspace does not have: not shown.
 * 404 in listings of its calls and messages and on sending from it, as for any id that is well formed and absent.
 */
import { Refusal } from '../http/refusal.ts';
import type { PhoneNumberTable } from '../store/phone-number-table.ts';
import type { PhoneNumber } from './phone-number.ts';

/** Throws `Refusal` 404. `idOrNumber`: an id that begins with PN, or a number in E.164 format. */
export function requireNumber(
  phoneNumbers: Pick<PhoneNumberTable, 'find' | 'findByNumber'>,
  idOrNumber: string,
): PhoneNumber {
  const found = idOrNumber.startsWith('PN') ? phoneNumbers.find(idOrNumber) : phoneNumbers.findByNumber(idOrNumber);
  if (found === null) throw new Refusal(404, `This workspace has no phone number ${idOrNumber.slice(0, 100)}.`);
  return found;
}
