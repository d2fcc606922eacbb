/** The custom fields of a workspace that is being loaded. Without any in the file, those of every new workspace. */
import { seededCustomFields } from '#src/service/seed/seed-workspace.ts';
import type { CustomFieldTable } from '#src/service/store/workspace-tables.ts';
import type { CustomFieldDefinition, CustomFieldDefinitions } from '#src/service/stored-records.ts';

export interface WorkspaceDefinitions {
  /** The file has the section, be it empty. */
  readonly begin: () => void;
  readonly insert: (definition: CustomFieldDefinition) => void;
  /** All of them; none is inserted any more. */
  readonly all: () => CustomFieldDefinitions;
}

export function createWorkspaceDefinitions(customFields: CustomFieldTable): WorkspaceDefinitions {
  const definitions = new Map<string, CustomFieldDefinition>();
  let isGiven = false;
  const insert = (definition: CustomFieldDefinition) => {
    customFields.insert(definition);
    definitions.set(definition.key, definition);
  };
  return {
    begin: () => {
      isGiven = true;
    },
    insert,
    all: () => {
      if (!isGiven) for (const definition of seededCustomFields) insert(definition);
      isGiven = true;
      return definitions;
    },
  };
}
