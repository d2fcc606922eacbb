/** How many records a workspace file holds, in words. */
import type { ListSectionName, SectionCounts } from '#src/service/workspace-file/sections.ts';

const words: readonly (readonly [ListSectionName, string, string])[] = [
  ['contacts', 'contact', 'contacts'],
  ['phoneNumbers', 'phone number', 'phone numbers'],
  ['users', 'user', 'users'],
  ['customFields', 'custom field', 'custom fields'],
  ['calls', 'call', 'calls'],
  ['recordings', 'recording', 'recordings'],
  ['messages', 'message', 'messages'],
];

/** `1,000 contacts, 1 user, 7 custom fields`; contacts are told even where there are none. */
export function sectionCountsText(counts: SectionCounts): string {
  return words
    .filter(([name]) => counts[name] > 0 || name === 'contacts')
    .map(([name, one, many]) => `${counts[name].toLocaleString('en')} ${counts[name] === 1 ? one : many}`)
    .join(', ');
}
