/**
 * Finds the records of a workspace file in its bytes, in one pass and in memory that holds one record.
 *
 * It follows the JSON only as far as it must: the names of the sections, and where a record begins and ends. What is
 * between goes to `JSON.parse`, so that any layout is read alike, and nothing that is not JSON passes.
 * Terms: *place* is where a value begins; lines and columns are counted from 1, columns in bytes.
 */

export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface ScannedRecord {
  /** Counted from 0; null for a section that is one object. */
  readonly index: number | null;
  readonly place: Place;
  /** The value's bytes; valid only during the call. */
  readonly bytes: Uint8Array;
}

export interface SectionPlan {
  readonly shape: 'list' | 'object';
  /** Records of a section that is not taken are passed over, unread. */
  readonly taken: boolean;
}

export interface ScanHandlers {
  /** Called when a section begins. Throws to refuse it. */
  readonly onSection: (name: string, place: Place) => SectionPlan;
  readonly onRecord: (record: ScannedRecord) => void;
}

export interface RecordScanner {
  /** The memory must not be used again before the next value ends. Throws `ScanError`, and what the handlers throw. */
  readonly write: (bytes: Uint8Array) => void;
  /** Throws `ScanError` where the text ends too early. */
  readonly end: () => void;
}

/** The text is no JSON, or not the object with sections. Internal: becomes an error that names the file. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
  readonly place: Place;

  constructor(message: string, place: Place) {
    super(message);
    this.place = place;
  }
}

export const recordBytesMax = 32 * 1024 * 1024;
export const recordDepthMax = 32;

/** What may come next, outside of a value that is being taken up. */
type Expected =
  | 'root'
  | 'nameOrEnd'
  | 'name'
  | 'colon'
  | 'section'
  | 'itemOrEnd'
  | 'item'
  | 'commaOrListEnd'
  | 'commaOrEnd'
  | 'nothing';

const wanted: Readonly<Record<Expected, string>> = {
  root: 'an object, {…}',
  nameOrEnd: 'the name of a section, or }',
  name: 'the name of a section',
  colon: 'a colon',
  section: 'a section',
  itemOrEnd: 'a record, or ]',
  item: 'a record',
  commaOrListEnd: 'a comma or ]',
  commaOrEnd: 'a comma or }',
  nothing: 'nothing more',
};

const [lf, quote, backslash, comma, colon] = [0x0a, 0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
const isSpace = (byte: number | undefined) => byte === 0x20 || byte === lf || byte === 0x0d || byte === 0x09;

const isValueStart = (byte: number) => byte !== comma && byte !== colon && byte !== closeList && byte !== closeObject;

export function createRecordScanner({ onSection, onRecord }: ScanHandlers): RecordScanner {
  let expected: Expected = 'root';
  let plan: SectionPlan = { shape: 'list', taken: false };
  let itemIndex = 0;
  let line = 1;
  /** Bytes before this chunk, and those before the first byte of this line. */
  let base = 0;
  let lineStart = 0;
  // The value that is being taken up: its kind, where it began, what earlier chunks held of it.
  let taking: 'none' | 'nested' | 'scalar' = 'none';
  let place: Place = { line: 1, column: 1 };
  let held: Uint8Array[] = [];
  let takenBytes = 0;
  let depth = 0;
  let inString = false;
  let escaped = false;

  const placeAt = (index: number): Place => ({ line, column: base + index - lineStart + 1 });
  const fail = (message: string, at: Place): never => {
    throw new ScanError(message, at);
  };
  const isKept = () => expected === 'name' || expected === 'nameOrEnd' || plan.taken;

  const begin = (bytes: Uint8Array, index: number) => {
    const byte = bytes[index];
    place = placeAt(index);
    held = [];
    takenBytes = 0;
    depth = 0;
    inString = false;
    escaped = false;
    // A string is taken up as something nested whose depth is 0 outside of its quotes.
    taking = byte === quote || byte === openObject || byte === openList ? 'nested' : 'scalar';
  };

  /** What this chunk holds of the value joins the rest. */
  const keep = (piece: Uint8Array) => {
    takenBytes += piece.length;
    if (takenBytes > recordBytesMax) fail(`a record is larger than ${recordBytesMax / 1024 / 1024} MiB`, place);
    if (isKept()) held.push(piece);
  };

  const finish = () => {
    taking = 'none';
    const [first] = held;
    const bytes = held.length === 1 && first !== undefined ? first : Buffer.concat(held);
    held = [];
    if (expected === 'name' || expected === 'nameOrEnd') {
      plan = onSection(parseName(bytes, place), place);
      expected = 'colon';
      return;
    }
    if (plan.taken) onRecord({ index: plan.shape === 'list' ? itemIndex : null, place, bytes });
    itemIndex += 1;
    expected = plan.shape === 'list' ? 'commaOrListEnd' : 'commaOrEnd';
  };

  /** Goes on inside a value; answers the index after what it took. The hot loop: one look at each byte. */
  const take = (bytes: Uint8Array, start: number): number => {
    let index = start;
    for (; index < bytes.length; index += 1) {
      const byte = bytes[index];
      if (taking === 'scalar') {
        if (!isSpace(byte) && byte !== comma && byte !== closeList && byte !== closeObject) continue;
        keep(bytes.subarray(start, index));
        finish();
        return index;
      }
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inString = false;
        if (inString || depth > 0) continue;
      } else if (byte === quote) {
        inString = true;
        continue;
      } else if (byte === openObject || byte === openList) {
        depth += 1;
        if (depth > recordDepthMax) fail(`nested deeper than ${recordDepthMax} levels`, placeAt(index));
        continue;
      } else if (byte === closeObject || byte === closeList) {
        depth -= 1;
        if (depth > 0) continue;
      } else {
        if (byte === lf) newLine(index);
        continue;
      }
      keep(bytes.subarray(start, index + 1));
      finish();
      return index + 1;
    }
    keep(bytes.subarray(start));
    return index;
  };

  const newLine = (index: number) => {
    line += 1;
    lineStart = base + index + 1;
  };

  /** One byte between values. Answers whether a value begins with it. */
  const step = (byte: number, index: number): boolean => {
    if (expected === 'root' && byte === openObject) expected = 'nameOrEnd';
    else if ((expected === 'name' || expected === 'nameOrEnd') && byte === quote) return true;
    else if (expected === 'nameOrEnd' && byte === closeObject) expected = 'nothing';
    else if (expected === 'colon' && byte === colon) expected = 'section';
    else if (expected === 'section') return beginSection(byte, index);
    else if (expected === 'itemOrEnd' && byte === closeList) expected = 'commaOrEnd';
    else if ((expected === 'item' || expected === 'itemOrEnd') && isValueStart(byte)) return true;
    else if (expected === 'commaOrListEnd' && byte === comma) expected = 'item';
    else if (expected === 'commaOrListEnd' && byte === closeList) expected = 'commaOrEnd';
    else if (expected === 'commaOrEnd' && byte === comma) expected = 'name';
    else if (expected === 'commaOrEnd' && byte === closeObject) expected = 'nothing';
    else unexpected(byte, index);
    return false;
  };

  const beginSection = (byte: number, index: number): boolean => {
    itemIndex = 0;
    if (plan.shape === 'object') {
      if (byte !== openObject) fail('this section must be an object, {…}', placeAt(index));
      return true;
    }
    if (byte !== openList) fail('this section must be a list, […]', placeAt(index));
    expected = 'itemOrEnd';
    return false;
  };

  const unexpected = (byte: number, index: number): never => {
    const found = byte > 0x20 && byte < 0x7f ? `, not ${String.fromCharCode(byte)}` : '';
    return fail(`here must stand ${wanted[expected]}${found}`, placeAt(index));
  };

  return {
    write: (bytes) => {
      let index = 0;
      // Ends: each turn takes at least one byte, or ends a value and then takes the byte after it.
      while (index < bytes.length) {
        if (taking !== 'none') {
          index = take(bytes, index);
          continue;
        }
        const byte = bytes[index] ?? 0;
        if (isSpace(byte)) {
          if (byte === lf) newLine(index);
        } else if (step(byte, index)) {
          begin(bytes, index);
          continue;
        }
        index += 1;
      }
      base += bytes.length;
    },
    end: () => {
      if (expected === 'nothing') return;
      fail(expected === 'root' ? 'it is empty' : 'the text ends in the middle; a part is missing', placeAt(0));
    },
  };
}

function parseName(bytes: Uint8Array, place: Place): string {
  try {
    return String(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    throw new ScanError('the name of a section is not a JSON text', place);
  }
}
