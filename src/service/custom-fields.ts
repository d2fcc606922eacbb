/**
 * List custom-field definitions. `docs/interface.md` does not name it; `docs/facts.md` ("Custom fields") does: not paginated,
 * read-only.
 */
import { z } from 'zod';
import type { Operation, OperationDescription } from '#src/service/operations/operation.ts';
import { customFieldTypes } from '#src/wire/contact.ts';
import type { CustomFieldDefinitions } from './stored-records.ts';

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

export function customFieldOperations(definitions: CustomFieldDefinitions): readonly Operation[] {
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
