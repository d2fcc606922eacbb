/** Sends the login form, as a browser at a page of another machine does. */
import { type Answer, answerOf, type DashboardBench } from './dashboard-bench.ts';

export const sameOrigin = { 'sec-fetch-site': 'same-origin' };

export async function postLogin(
  { app }: DashboardBench,
  given: string,
  headers: Record<string, string>,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await app.request('/login', {
    method: 'POST',
    headers: { host: 'patchbay.example.com', 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ token: given, ...more }).toString(),
  });
  return await answerOf(response);
}
