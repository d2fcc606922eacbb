#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=20
// The flags keep the heap of a long import as small as that of a short one, at no cost in speed that could be measured.
// Plain JavaScript, so that an older Node can still say in one sentence what is missing.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `Patchbay needs Node 24 and this is ${process.version}. In its folder, "npx --no-install patchbay …" and "npm start" bring their own.\n`,
  );
  process.exit(2);
}
const { main } = await import('./main.ts');
await main(process.argv);
