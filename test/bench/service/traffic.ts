/** The requests of the benchmark: bodies as people's systems send them, for contacts that are told apart by a number. */

export const benchKey = 'key-of-the-benchmark';

const headers = `host: 127.0.0.1\r\nauthorization: ${benchKey}\r\n`;

export function getRequest(path: string): string {
  return `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
}

/** The body is plain ASCII: its length is its size. */
export function bodyRequest(method: 'POST' | 'PATCH', path: string, body: string): string {
  return `${method} ${path} HTTP/1.1\r\n${headers}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

export function externalIdOf(index: number): string {
  return `crm-7f3a-${index}`;
}

/** Two phone numbers, an e-mail address, a custom field. */
export function createBody(index: number): string {
  return JSON.stringify({
    externalId: externalIdOf(index),
    source: 'crm-sync',
    sourceUrl: `https://crm.example.com/people/${index}`,
    defaultFields: {
      firstName: `Ada ${index}`,
      lastName: 'Abbot',
      company: 'Fennel & Sons',
      role: 'Buyer',
      emails: [{ name: 'work', value: `ada.abbot.${index}@example.com` }],
      phoneNumbers: [
        { name: 'mobile', value: `+1415555010${index % 10}` },
        { name: 'office', value: `+1415555011${index % 10}` },
      ],
    },
    customFields: [{ key: 'account_manager', value: `Manager ${index % 40}` }],
  });
}

interface Item {
  readonly id: string;
  readonly name: string;
  readonly value: string;
}

/** As a reply shows it: the part that the benchmark needs. */
export interface SeenContact {
  readonly id: string;
  readonly externalId: string;
  readonly defaultFields: { readonly emails: readonly Item[]; readonly phoneNumbers: readonly Item[] };
}

/** Changes names, the e-mail address, one of the phone numbers and the custom field. */
export function patchBody({ defaultFields }: SeenContact, round: number): string {
  const [email] = defaultFields.emails;
  const [mobile] = defaultFields.phoneNumbers;
  return JSON.stringify({
    defaultFields: {
      firstName: `Ada ${round}`,
      lastName: 'Brook',
      company: 'Harbor Tea',
      role: 'Owner',
      emails: [{ id: email?.id, name: 'work', value: `ada.brook.${round}@example.com` }],
      phoneNumbers: [{ id: mobile?.id, name: 'mobile', value: `+1415555012${round % 10}` }],
    },
    customFields: [{ key: 'account_manager', value: `Manager ${round % 40}` }],
  });
}
