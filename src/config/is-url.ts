/** Whether what stands in `take` is a URL, of whatever scheme, and not a path or a glob. */
export function isUrl(take: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(take);
}
