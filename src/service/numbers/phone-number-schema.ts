/** A phone number as replies show it, as a schema (2.4; values and nulls: `facts.md`, "Phone numbers"). */
import { z } from 'zod';
import { e164 } from '../text-schemas.ts';

export const userId = z
  .string()
  .regex(/^US/, { error: 'must begin with US' })
  .meta({ description: 'Identifier of a user.', examples: ['USa1b2c3d4e5'] });

const user = z
  .object({
    id: userId,
    email: z.string(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    role: z.enum(['owner', 'admin', 'member']),
    groupId: z.string(),
  })
  .meta({ id: 'User' });

const restriction = z.enum(['restricted', 'unrestricted']);
const regions = z
  .object({ CA: restriction, Intl: restriction, US: restriction })
  .meta({ id: 'RegionalRestrictions', description: 'Limits on what goes out from the number, by region.' });

export const phoneNumberSchema = z
  .object({
    id: z.string().regex(/^PN/),
    groupId: z.string(),
    portRequestId: z.string().nullable(),
    formattedNumber: z.string().nullable(),
    forward: z.string().nullable(),
    name: z.string(),
    number: e164,
    portingStatus: z.string().nullable(),
    symbol: z.string().nullable(),
    users: z.array(user),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    restrictions: z.object({ calling: regions, messaging: regions }),
  })
  .meta({ id: 'PhoneNumber' });
