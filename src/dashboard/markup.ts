/**
 * A piece of a page. Made by hono's `html` template only, which escapes everything that is put into it; `raw` is
 * not used in this folder.
 */
import type { html } from 'hono/html';

export type Markup = ReturnType<typeof html>;
