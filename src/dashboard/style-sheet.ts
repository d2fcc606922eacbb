/** The one stylesheet. Its address changes with its content, so that it may be kept for a while. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface StyleSheet {
  readonly text: string;
  readonly href: string;
}

/** Read once, when the page starts. Throws the system's errors. */
export function readStyleSheet(): StyleSheet {
  const text = readFileSync(new URL('./style.css', import.meta.url), 'utf8');
  const version = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { text, href: `/style.css?v=${version}` };
}
