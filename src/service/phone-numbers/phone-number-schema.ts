/** A phone number as replies show it, as a schema (2.4; values and nulls: `facts.md`, "Phone numbers"). */
import { z } from 'zod';
import { e164, text } from '../text-schemas.ts';

export const userId = text
  .regex(/^US/, { error: 'must begin with US' })
  .meta({ description: 'Identifier of a user.', examples: ['USa1b2c3d4e5'] });

const user = z
  .object({
    id: userId,
    email: text,
    firstName: text.nullable(),
    lastName: text.nullable(),
    role: z.enum(['owner', 'admin', 'member']),
    groupId: text,
  })
  .meta({ id: 'User' });

const restriction = z.enum(['restricted', 'unrestricted']);
const regions = z
  .object({ CA: restriction, Intl: restriction, US: restriction })
  .meta({ id: 'RegionalRestrictions', description: 'Limits on what goes out from the number, by region.' });

export const phoneNumberSchema = z
  .object({
    id: text.regex(/^PN/),
    groupId: text,
    portRequestId: text.nullable(),
    formattedNumber: text.nullable(),
    forward: text.nullable(),
    name: text,
    number: e164,
    portingStatus: text.nullable(),
    symbol: text.nullable(),
    users: z.array(user),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    restrictions: z.object({ calling: regions, messaging: regions }),
  })
  .meta({ id: 'PhoneNumber' });
