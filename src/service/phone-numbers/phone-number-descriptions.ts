/** The operations on phone numbers for the public description (4.4). */
import { z } from 'zod';
import type { OperationDescription } from '../operations/operation-description.ts';
import { pageReply } from '../paging/page-reply.ts';
import { phoneNumberSchema, userId } from './phone-number-schema.ts';

const tag = 'Phone numbers';

/** The user filter; its name is a reading, see `phone-number-operations.ts`. */
export const phoneNumberQuerySchema = z.object({
  userId: userId.meta({ description: 'Only the phone numbers of this user.' }).optional(),
});

/** Where the listing is paged. */
export const pagedPhoneNumberQuerySchema = phoneNumberQuerySchema.extend({
  pageToken: z
    .string()
    .meta({ description: 'The nextPageToken of the page before. Send the filter with it again.' })
    .optional(),
});

const unrestricted = { CA: 'unrestricted', Intl: 'restricted', US: 'unrestricted' };
const example = {
  id: 'PNa1b2c3d4e5',
  groupId: 'GRa1b2c3d4e5',
  portRequestId: null,
  formattedNumber: '(415) 555-0100',
  forward: null,
  name: 'Front desk',
  number: '+14155550100',
  portingStatus: 'completed',
  symbol: null,
  users: [
    {
      id: 'USa1b2c3d4e5',
      email: 'ada.grove@example.com',
      firstName: 'Ada',
      lastName: 'Grove',
      role: 'owner',
      groupId: 'GRa1b2c3d4e5',
    },
  ],
  createdAt: '2026-11-21T14:00:00.000Z',
  updatedAt: '2026-11-21T14:00:00.000Z',
  restrictions: { calling: unrestricted, messaging: unrestricted },
};

/** `paged`: whether the listing is answered by pages. */
export function listPhoneNumbersDescription(paged: boolean): OperationDescription {
  const page = { totalItems: 1, nextPageToken: null };
  return {
    operationId: 'listPhoneNumbers',
    tag,
    summary: 'List phone numbers',
    about: `Section 4.4. The phone numbers of the workspace and the users of each${paged ? ', by pages' : ', all at once'}.`,
    pathId: null,
    query: paged ? pagedPhoneNumberQuerySchema : phoneNumberQuerySchema,
    body: null,
    reply: {
      status: 200,
      about: 'The phone numbers.',
      schema: paged ? pageReply(phoneNumberSchema) : z.object({ data: z.array(phoneNumberSchema) }),
      example: { data: [example], ...(paged ? page : {}) },
    },
    refusals: { 400: 'The user identifier does not begin with US, or the page token is none of this listing.' },
  };
}

export const getPhoneNumberDescription: OperationDescription = {
  operationId: 'getPhoneNumber',
  tag,
  summary: 'Get a phone number',
  about: 'Beyond the interface.',
  pathId: z.string().meta({ description: 'Identifier of the phone number.', examples: [example.id] }),
  query: null,
  body: null,
  reply: {
    status: 200,
    about: 'The phone number.',
    schema: z.object({ data: phoneNumberSchema }),
    example: { data: example },
  },
  refusals: { 404: 'No phone number has this identifier.' },
};
