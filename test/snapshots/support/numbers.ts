/** Phone numbers for tests of snapshots: invented people, numbers for fiction. */
import type { PhoneNumber } from '#src/wire/phone-number.ts';

export function user(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: `US${name.toLowerCase()}`,
    email: `${name.toLowerCase()}@example.com`,
    firstName: name,
    lastName: null,
    role: 'member',
    groupId: 'GR1',
    ...more,
  };
}

/** The number with this place: `PN1` is +14155550101. */
export function number(place: number, more: Record<string, unknown> = {}): PhoneNumber {
  const regions = { CA: 'unrestricted', Intl: 'unrestricted', US: 'unrestricted' };
  const digits = String(100 + (place % 100)).padStart(4, '0');
  return {
    id: `PN${place}`,
    groupId: 'GR1',
    portRequestId: null,
    formattedNumber: `(415) 555-${digits}`,
    forward: null,
    name: 'Main',
    number: `+1415555${digits}`,
    portingStatus: null,
    symbol: null,
    users: [user('Ann')],
    createdAt: '2026-11-01T10:00:00.000Z',
    updatedAt: '2026-11-01T10:00:00.000Z',
    restrictions: { calling: regions, messaging: regions },
    ...more,
  };
}

/** Restrictions with some that differ, as `{ calling: { Intl: 'restricted' } }`. */
export function restricted(different: { readonly calling?: object; readonly messaging?: object }): object {
  const regions = { CA: 'unrestricted', Intl: 'unrestricted', US: 'unrestricted' };
  return { calling: { ...regions, ...different.calling }, messaging: { ...regions, ...different.messaging } };
}

/** So many different ones. */
export function numbers(count: number): PhoneNumber[] {
  return Array.from({ length: count }, (_, index) => number(index + 1));
}
