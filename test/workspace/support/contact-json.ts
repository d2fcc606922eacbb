/** Literal replies, as the interface shows them (`docs/interface.md`, 2.1 and 4.1). */

export const adaJson = `{"data":{
  "id":"64aa00000000000000000001","externalId":"crm-1","source":"patchbay","sourceUrl":null,
  "defaultFields":{"company":"Example Ltd","firstName":"Ada","lastName":"Sample","role":null,
    "emails":[{"id":"e1","name":"email","value":"ada@example.com"}],
    "phoneNumbers":[{"id":"p1","name":"phone","value":"+14155550101"}]},
  "customFields":[],"createdAt":"2026-11-01T10:00:00.000Z","updatedAt":"2026-11-01T10:00:00.000Z",
  "createdByUserId":"USabc"}}`;

/** A page of the contact list with bare contacts of these external ids. */
export function listJson(externalIds: readonly string[], nextPageToken: string): string {
  const rows = externalIds.map(
    (externalId, index) =>
      `{"id":"64aa0000000000000000010${index}","externalId":${JSON.stringify(externalId)},"source":null,"sourceUrl":null,
        "defaultFields":{"firstName":"Ada","emails":[],"phoneNumbers":[]},"customFields":[]}`,
  );
  return `{"data":[${rows.join(',')}],"totalItems":99,"nextPageToken":${nextPageToken}}`;
}

export const refusalJson =
  '{"message":"Invalid custom field item","code":"0801400","status":400,"docs":"","title":"Invalid Custom Field Item",' +
  '"errors":[{"path":"customFields.0.value","message":"wrong type"}]}';

export const wrappedAuthJson = '{"error":{"message":"Unauthorized","key":"0800401","trace":"t-1"}}';
