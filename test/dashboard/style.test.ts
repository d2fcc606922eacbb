/** The colours of the pages, in light and in dark: what is read, and where a field of a form ends, stands out (WCAG 1.4.3 and 1.4.11). */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const style = readFileSync(new URL('../../src/dashboard/style.css', import.meta.url), 'utf8');

function coloursOf(block: string): ReadonlyMap<string, string> {
  return new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]));
}

const [, light = '', dark = ''] = style.split(':root {');

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const share = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

it.each([
  ['light', coloursOf(light)],
  ['dark', coloursOf(dark)],
])('in %s fields of forms have an edge that is seen, and text is read', (_, colours) => {
  const against = (name: string, ground: string): number =>
    contrast(colours.get(name) ?? '', colours.get(ground) ?? '');
  for (const ground of ['ground', 'surface']) {
    expect(against('edge', ground), ground).toBeGreaterThanOrEqual(3);
    for (const name of ['ink', 'dim', 'accent'])
      expect(against(name, ground), `${name} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  }
  for (const name of ['good', 'busy', 'attention', 'bad'])
    expect(against(name, `${name}-ground`), name).toBeGreaterThanOrEqual(4.5);
  expect(/^(input|button|select)[^{]*\{[^}]*border: 1px solid var\(--edge\)/m.test(style)).toBe(true);
});
