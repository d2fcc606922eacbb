/** What is asked for in each case of the benchmark, and the contacts that it is asked about. */
import { benchKey, bodyRequest, createBody, externalIdOf, getRequest, patchBody, type SeenContact } from './traffic.ts';

export const caseNames = ['get', 'list', 'create', 'patch'] as const;
export type CaseName = (typeof caseNames)[number];

export interface BenchCase {
  readonly status: number;
  readonly nextRequest: () => string;
}

const contactCount = 1_000;
const externalIdsPerList = 20;
/** Prime: a walk by it meets every contact, and no neighbours one after the other. */
const stride = 7_919;

export function caseOf(name: CaseName, contacts: readonly SeenContact[]): BenchCase {
  let turn = 0;
  const nextContact = (): SeenContact => {
    turn += 1;
    return contacts[(turn * stride) % contacts.length] as SeenContact;
  };
  switch (name) {
    case 'get':
      return { status: 200, nextRequest: () => getRequest(`/v1/contacts/${nextContact().id}`) };
    case 'list':
      return listCase(contacts.length);
    case 'create':
      return {
        status: 201,
        nextRequest: () => {
          turn += 1;
          return bodyRequest('POST', '/v1/contacts', createBody(contactCount + turn));
        },
      };
    case 'patch':
      return {
        status: 200,
        nextRequest: () => {
          const contact = nextContact();
          return bodyRequest('PATCH', `/v1/contacts/${contact.id}`, patchBody(contact, turn));
        },
      };
  }
}

/** Twenty ids from all over a store of so many contacts. */
export function listCase(count: number): BenchCase {
  let turn = 0;
  const nextId = () => {
    turn += 1;
    return `externalIds=${externalIdOf((turn * stride) % count)}`;
  };
  return {
    status: 200,
    nextRequest: () => {
      const ids = Array.from({ length: externalIdsPerList }, nextId);
      return getRequest(`/v1/contacts?${ids.join('&')}&maxResults=50`);
    },
  };
}

export async function fillWithContacts(port: number): Promise<readonly SeenContact[]> {
  const contacts: SeenContact[] = [];
  for (let start = 0; start < contactCount; start += 50) {
    const bodies = Array.from({ length: 50 }, (_, offset) => createBody(start + offset));
    const replies = await Promise.all(bodies.map((body) => call(port, 'POST', '/v1/contacts', body)));
    for (const reply of replies) contacts.push((reply as { data: SeenContact }).data);
  }
  return contacts;
}

/** What the case's reply looks like, for the bare server to answer one like it. */
export async function sampleReply(port: number, one: BenchCase): Promise<unknown> {
  const [head = '', body = ''] = one.nextRequest().split('\r\n\r\n');
  const [method = '', path = ''] = head.split(' ');
  return await call(port, method, path, body === '' ? null : body);
}

async function call(port: number, method: string, path: string, body: string | null): Promise<unknown> {
  const headers = { authorization: benchKey, 'content-type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text);
}
