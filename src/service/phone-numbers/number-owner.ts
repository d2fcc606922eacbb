/**
 * Who owns a phone number. Section 9, 1.0.1, "the phone number owner, not the workspace owner": not shown how it is
 * told. The first of the number's users, whatever their role in the workspace; of a number without users, the
 * workspace owner.
 */
import type { PhoneNumber } from './phone-number.ts';

export function numberOwnerId({ users }: PhoneNumber, workspaceOwnerUserId: string): string {
  return users[0]?.id ?? workspaceOwnerUserId;
}
