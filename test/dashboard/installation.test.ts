/** The name of the installation is in the title and the header of every page. */
import { describe, expect, it } from 'vitest';
import { dashboardBench } from './dashboard-bench.ts';

const paths = ['/', '/runs', '/feeds', '/dead-letters', '/nowhere', '/runs/none'];

describe('An installation with a name', () => {
  it.each(paths)('says it in the title and in the header of %s', async (path) => {
    const { text } = await (await dashboardBench({ installation: 'Büro <1>' })).page(path);
    expect(text).toMatch(/<title>[^<]+ · Büro &lt;1&gt; · Patchbay<\/title>/);
    expect(text).toMatch(/Patchbay(?:<\/a>)? <strong class="installation"><bdi>Büro &lt;1&gt;<\/bdi><\/strong>/);
  });

  it('says it where the token is asked for', async () => {
    const bench = await dashboardBench({ installation: 'berlin', token: 'a-token-of-sixteen' });
    const { text } = await bench.page('/login');
    expect(text).toContain('<title>Log in · berlin · Patchbay</title>');
  });
});

describe('An installation without a name', () => {
  it.each(paths)('is called Patchbay on %s', async (path) => {
    const { text } = await (await dashboardBench()).page(path);
    expect(text).toMatch(/<title>[^<·]+ · Patchbay<\/title>/);
    expect(text).not.toContain('installation');
  });
});
