/** What the tests of calls, recordings and messages look at: a workspace with its seed, walked over HTTP. */
import { type Answer, startTestService, type TestService, type TestServiceOptions } from './test-service.ts';

interface NumberReply {
  readonly id: string;
  readonly number: string;
  readonly users: readonly { readonly id: string; readonly role: string }[];
}

export interface ActiveService extends TestService {
  /** The second number: its owner is not the workspace owner, who is its second user. */
  readonly phoneNumber: NumberReply;
  readonly numbers: readonly NumberReply[];
  readonly ownerId: string;
  readonly secondId: string;
  /** The other party with whom both users of the number had to do; its number is that of a contact. */
  readonly person: string;
}

/** Two numbers and five contacts: the people of the second number are the third contact and the fourth. */
export async function startActiveService(options: TestServiceOptions = {}): Promise<ActiveService> {
  const service = await startTestService({ seedPhoneNumbers: 2, seedContacts: 5, ...options });
  const numbers: NumberReply[] = (await service.call('GET', '/v1/phone-numbers')).body.data;
  const [, phoneNumber] = numbers;
  const [owner, second] = phoneNumber?.users ?? [];
  if (phoneNumber === undefined || owner === undefined || second === undefined) throw new Error('no second number');
  return { ...service, phoneNumber, numbers, ownerId: owner.id, secondId: second.id, person: '+12015550102' };
}

/** A listing's address; each parameter is escaped, an array is the repeated plain key. */
export function listing(
  path: '/v1/calls' | '/v1/messages',
  parameters: Readonly<Record<string, string | number | readonly string[]>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of typeof value === 'object' ? value : [value]) query.append(name, String(one));
  }
  return `${path}?${query}`;
}

export const idsOf = (answer: Answer): string[] => answer.body.data.map((one: { id: string }) => one.id);
