/** The table of operations: all that the interface can do, on one store; and the one that lists custom fields. */

import { z } from 'zod';
import { callOperations, recordingOperations } from '#src/service/activity/calls.ts';
import { messageOperations } from '#src/service/activity/messages.ts';
import { contactOperations } from '#src/service/contacts/contact-operations.ts';
import { allReservedSources } from '#src/service/contacts/reserved-sources.ts';
import type { PageTokens } from '#src/service/paging.ts';
import { phoneNumberOperations } from '#src/service/phone-numbers.ts';
import type { ServiceBehaviour } from '#src/service/service-options.ts';
import type { Store } from '#src/service/store/open-store.ts';
import type { CustomFieldDefinitions } from '#src/service/stored-records.ts';
import { customFieldTypes } from '#src/wire/contact.ts';
import type { Operation, OperationDescription } from './operation.ts';

export function serviceOperations(
  behaviour: ServiceBehaviour,
  store: Store,
  pageTokens: PageTokens,
): readonly Operation[] {
  const { patchMode, pageNumbers, clock } = behaviour;
  const reservedSources = allReservedSources(behaviour.unnamedReservedSources);
  const { internationalMessaging = false } = behaviour;
  // Nothing in the interface changes definitions: they are read once.
  const definitions = new Map(store.customFields.all().map((one) => [one.key, one]));
  return [
    ...contactOperations({ store, definitions, patchMode, reservedSources, clock, pageTokens }),
    ...phoneNumberOperations({ phoneNumbers: store.phoneNumbers, pageNumbers, pageTokens }),
    ...customFieldOperations(definitions),
    ...callOperations({ store, pageTokens }),
    ...recordingOperations(store),
    ...messageOperations({ store, clock, internationalMessaging, pageTokens }),
  ];
}

/**
 * List custom-field definitions. `docs/interface.md` does not name it; `docs/facts.md` ("Custom fields") does: not paginated,
 * read-only.
 */
const definition = z
  .object({
    name: z.string().meta({ description: 'Display name.' }),
    key: z.string().meta({ description: 'What custom field items of contacts are known by.' }),
    type: z.enum(customFieldTypes),
  })
  .meta({ id: 'CustomFieldDefinition' });

const description: OperationDescription = {
  operationId: 'listCustomFields',
  tag: 'Custom fields',
  summary: 'List custom fields',
  about: 'Beyond the interface. The custom fields that contacts of the workspace may have, all at once.',
  pathId: null,
  query: null,
  body: null,
  reply: {
    status: 200,
    about: 'The definitions.',
    schema: z.object({ data: z.array(definition) }),
    example: { data: [{ name: 'Seats', key: 'seats', type: 'number' }] },
  },
  refusals: {},
};

function customFieldOperations(definitions: CustomFieldDefinitions): readonly Operation[] {
  const data = [...definitions.values()].map(({ name, key, type }) => ({ name, key, type }));
  return [
    {
      name: 'fields',
      method: 'GET',
      path: '/v1/contact-custom-fields',
      resource: '07',
      takesBody: false,
      description,
      run: () => ({ status: 200, body: { data } }),
    },
  ];
}
