/** A person may give an address where a command reads a file. */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { shellWord } from '#src/shell-words.ts';

const isAddress = (file: string): boolean => /^https?:\/\//i.test(file);

/**
 * An address is not a path.
 * @param command that takes the file; one that reads standard input can be given what a download prints.
 * @throws PatchbayError `file` `addressNotTaken`.
 */
export function requirePath(file: string, command: 'import' | 'plan' | 'map'): void {
  if (isAddress(file)) throw addressNotTaken(file, command);
}

function addressNotTaken(address: string, command: 'import' | 'plan' | 'map'): PatchbayError {
  const message = `${address} is an address: ${command} reads files`;
  const once =
    command === 'map'
      ? `Download it, and name the file: curl -fsSLO ${shellWord(address)}`
      : `For once: curl -fsSL ${shellWord(address)} | patchbay ${command} -`;
  const again =
    'A feed takes it again and again: set take: to the address in the configuration (docs/operations.md, "Feeds").';
  return fileError('addressNotTaken', message, { file: address }, `${once}\n${again}`);
}
