/** What is answered where a path, or its method, means no operation. */
import { Refusal } from './refusal.ts';

/** HEAD is answered wherever GET is, and not named. */
export function wrongMethod(allowed: readonly string[]): Refusal {
  const allow = allowed.join(', ');
  return new Refusal(405, `This path answers ${allow}.`, { headers: { allow } });
}

/** Section 4: what is answered for a path that it does not name is not shown. */
export function noSuchPath(path: string): Refusal {
  const isVersioned = path === '/v1' || path.startsWith('/v1/');
  const hint = isVersioned ? 'GET /openapi.json lists those that there are.' : 'Every path starts with /v1.';
  return new Refusal(404, `There is no such path. ${hint}`);
}

/** Section 9: /v0 is deprecated. How it answers: not shown. 410, since nothing is served there any more. */
export function versionGone(): Refusal {
  return new Refusal(410, 'The paths under /v0 are deprecated and no longer answered. Use /v1.');
}
