/**
 * List custom-field definitions. `interface.md` does not name it; `facts.md` ("Custom fields") does: not paginated,
 * read-only.
 */
import type { Operation } from '../operation.ts';
import type { CustomFieldDefinitions } from './definition.ts';

export function customFieldOperations(definitions: CustomFieldDefinitions): readonly Operation[] {
  const data = [...definitions.values()].map(({ name, key, type }) => ({ name, key, type }));
  return [
    {
      name: 'fields',
      method: 'GET',
      path: '/v1/contact-custom-fields',
      resource: '07',
      takesBody: false,
      run: () => ({ status: 200, body: { data } }),
    },
  ];
}
