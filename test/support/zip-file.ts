/** Writes zip archives, sound ones and such as only an attacker writes: each field of an entry can be set. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipMember {
  readonly name: string;
  readonly data: string | Uint8Array;
  /** Stored as it is. */
  readonly stored?: boolean;
  /** What the archive states, where it lies. */
  readonly stated?: { readonly unpackedBytes?: number; readonly crc?: number; readonly method?: number };
  readonly encrypted?: boolean;
  /** Where its data is: an offset of another member's local header. */
  readonly offset?: number;
}

const utf8Names = 0x800;

export function zipFile(members: readonly ZipMember[], stated: { readonly entryCount?: number } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const data = typeof member.data === 'string' ? Buffer.from(member.data) : Buffer.from(member.data);
    const packed = member.stored === true ? data : deflateRawSync(data);
    const name = Buffer.from(member.name);
    const fields = Buffer.alloc(22);
    fields.writeUInt16LE(utf8Names | (member.encrypted === true ? 1 : 0), 0);
    fields.writeUInt16LE(member.stated?.method ?? (member.stored === true ? 0 : 8), 2);
    fields.writeUInt32LE(member.stated?.crc ?? crc32(data), 8);
    fields.writeUInt32LE(packed.length, 12);
    fields.writeUInt32LE(member.stated?.unpackedBytes ?? data.length, 16);
    fields.writeUInt16LE(name.length, 20);
    const local = Buffer.concat([Buffer.from('PK\x03\x04\x14\0', 'latin1'), fields, Buffer.alloc(2), name, packed]);
    const position = Buffer.alloc(14);
    position.writeUInt32LE(member.offset ?? offset, 10);
    directory.push(
      Buffer.concat([Buffer.from('PK\x01\x02\x14\0\x14\0', 'latin1'), fields, Buffer.alloc(2), position, name]),
    );
    parts.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(stated.entryCount ?? members.length, 8);
  end.writeUInt16LE(stated.entryCount ?? members.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}
