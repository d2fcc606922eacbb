import { type Clock, isoInstant } from '#src/clock.ts';
import { checkQuery } from '#src/service/http/check-request.ts';
import { badRequest, Refusal } from '#src/service/http/refusal.ts';
import { type Operation, type OperationRequest, ReadyBody, type Reply } from '#src/service/operations/operation.ts';
import type { PageTokens } from '#src/service/paging.ts';
import { type ContactQuery, contactReplyData } from '#src/service/store/contact-table.ts';
import type { Store } from '#src/service/store/open-store.ts';
import type { CustomFieldDefinitions } from '#src/service/stored-records.ts';
import { contactListQuerySchema, createBodyParser, fieldLimits, parseUpdateBody } from './contact-bodies.ts';
import {
  applyUpdate,
  conflictRefusal,
  createContactIds,
  newContact,
  newItemId,
  type PatchMode,
} from './contact-changes.ts';
import { type ContactOperationName, contactDescriptions } from './contact-descriptions.ts';
import { checkCustomFieldItems } from './custom-field-values.ts';
import type { ReservedSources } from './reserved-sources.ts';

interface ContactParts {
  readonly store: Pick<Store, 'contacts' | 'read' | 'write' | 'ownerUserId'>;
  readonly definitions: CustomFieldDefinitions;
  readonly patchMode: PatchMode;
  readonly reservedSources: ReservedSources;
  readonly clock: Clock;
  readonly pageTokens: PageTokens;
}

export function contactOperations(parts: ContactParts): readonly Operation[] {
  const one = { path: '/v1/contacts/:id', resource: '08' } as const;
  const all = { path: '/v1/contacts', resource: '08' } as const;
  const described = contactDescriptions(parts.reservedSources, parts.patchMode);
  const as = <Name extends ContactOperationName>(name: Name) => ({ name, description: described[name] });
  return [
    { ...all, ...as('create'), method: 'POST', takesBody: true, run: createContact(parts) },
    { ...all, ...as('list'), method: 'GET', takesBody: false, run: (request) => listContacts(parts, request) },
    { ...one, ...as('get'), method: 'GET', takesBody: false, run: (request) => getContact(parts, request) },
    { ...one, ...as('update'), method: 'PATCH', takesBody: true, run: (request) => updateContact(parts, request) },
    { ...one, ...as('delete'), method: 'DELETE', takesBody: false, run: (request) => deleteContact(parts, request) },
  ];
}

function createContact({ store, definitions, reservedSources, clock }: ContactParts): Operation['run'] {
  const parseCreateBody = createBodyParser(reservedSources);
  const nextContactId = createContactIds();
  return async (request) => {
    const body = parseCreateBody(request.body());
    const customFields = checkCustomFieldItems(body.customFields, 'new', definitions) ?? [];
    const document = await store.write(() => {
      refuseTakenExternalId(store, body.externalId ?? null);
      const nowMs = clock.nowMs();
      const { ownerUserId } = store;
      const facts = { id: nextContactId(nowMs), createdAt: isoInstant(nowMs), ownerUserId, newItemId };
      return store.contacts.insert(newContact(body, customFields, facts));
    });
    return { status: 201, body: new ReadyBody(`{"data":${document}}`) };
  };
}

function getContact({ store }: ContactParts, request: OperationRequest): Reply {
  const document = store.read(() => store.contacts.findDocument(request.id)) ?? refuseAbsent(request.id);
  return { status: 200, body: new ReadyBody(`{"data":${document}}`) };
}

async function updateContact(
  { store, definitions, patchMode, clock }: ContactParts,
  request: OperationRequest,
): Promise<Reply> {
  const body = parseUpdateBody(request.body());
  const customFields = checkCustomFieldItems(body.customFields, 'known', definitions);
  const contact = await store.write(() => {
    const stored = store.contacts.find(request.id) ?? refuseAbsent(request.id);
    // 2.1, updatedAt of an update that changes nothing: not shown. It moves with every update.
    const facts = { mode: patchMode, updatedAt: isoInstant(clock.nowMs()), newItemId };
    const updated = applyUpdate(stored, body, customFields, facts);
    if (updated.externalId !== stored.externalId) refuseTakenExternalId(store, updated.externalId);
    if (!store.contacts.replace(updated, fieldLimits.contactLengthMax)) throw tooLong();
    return updated;
  });
  return { status: 200, body: { data: contactReplyData(contact, definitions, 'update') } };
}

async function deleteContact({ store }: ContactParts, request: OperationRequest): Promise<Reply> {
  const removed = await store.write(() => store.contacts.remove(request.id));
  if (!removed) refuseAbsent(request.id);
  return { status: 204, body: null };
}

function listContacts({ store, clock, pageTokens }: ContactParts, request: OperationRequest): Reply {
  const { maxResults, ...query } = parseContactListQuery(request.query, pageTokens);
  const { ignoreFilters, lagMs } = request.listing;
  const wanted: ContactQuery = {
    ...query,
    ...(ignoreFilters ? { externalIds: null, sources: null } : {}),
    createdMsMax: lagMs > 0 ? clock.nowMs() - lagMs : Number.MAX_SAFE_INTEGER,
    limit: maxResults + 1,
  };
  const rows = store.read(() => store.contacts.page(wanted));
  const shown = rows.slice(0, maxResults);
  const last = shown.at(-1);
  const data = shown.map((row) => row.document).join(',');
  const nextPageToken = rows.length > maxResults && last !== undefined ? pageTokens.ofSeq('contacts', last.seq) : null;
  // 4.6.2: "does not hold the true total count". It counts this page, so that no client can rely on it.
  const totalItems = shown.length;
  return {
    status: 200,
    body: new ReadyBody(
      `{"data":[${data}],"totalItems":${totalItems},"nextPageToken":${JSON.stringify(nextPageToken)}}`,
    ),
  };
}

/**
 * 2.1, "expected to be unique": how strictly is not shown. One contact of the workspace at a time may have an
 * externalId, whatever its source; a deleted contact's is free again. The reply names no field (`docs/facts.md`).
 */
function refuseTakenExternalId({ contacts }: ContactParts['store'], externalId: string | null): void {
  if (externalId !== null && contacts.idOfExternalId(externalId) !== null) throw conflictRefusal();
}

function tooLong(): Refusal {
  const message = `The contact would hold more than ${fieldLimits.contactLengthMax} characters, written as JSON.`;
  return badRequest([{ path: '', message, type: 'object' }]);
}

function refuseAbsent(id: string): never {
  throw new Refusal(404, `No contact has the id ${id.slice(0, 100)}.`);
}

/**
 * The query of list contacts. 4.5, its parameters: not shown. They are those of `docs/facts.md` ("List contacts").
 *
 * Only the repeated plain key is a filter: `externalIds[]=a` is an unknown parameter, and those are ignored.
 */
interface ContactListQuery {
  /** Null: not filtered. Several are alternatives. */
  readonly externalIds: readonly string[] | null;
  readonly sources: readonly string[] | null;
  readonly maxResults: number;
  readonly afterSeq: number;
}

const _externalIdsMax = 20;
/** 4.5, how many sources: not shown. As many as externalIds: each costs a look into the index. */
const _sourcesMax = 20;
const _maxResultsMax = 50;
const _maxResultsDefault = 10;

/** Throws `Refusal` 400. */
function parseContactListQuery(query: URLSearchParams, pageTokens: PageTokens): ContactListQuery {
  const { externalIds, sources, maxResults, pageToken } = checkQuery(contactListQuerySchema, query);
  return {
    externalIds: externalIds ?? null,
    sources: sources ?? null,
    maxResults,
    afterSeq: pageTokens.readSeq('contacts', pageToken ?? null),
  };
}
