/**
 * How big a dropped file and its parts may be. A limit on everything: a file beyond one is refused, never half read.
 *
 * Source of the figures: bad-inputs.md, "CSV" and "JSON, NDJSON, gzip".
 */

export interface SourceLimits {
  /** One cell or JSON string, in UTF-8 bytes. Beyond it the row is broken. */
  readonly cellBytesMax: number;
  /** One CSV record, JSON record or NDJSON line, in UTF-8 bytes. Beyond it the file is refused. */
  readonly recordBytesMax: number;
  /** Cells of one CSV record. */
  readonly columnsMax: number;
  /** The file after unpacking, in bytes. */
  readonly unpackedBytesMax: number;
  /** Unpacked bytes per packed byte of a gzip file. */
  readonly gzipRatioMax: number;
  /** Below this many unpacked bytes the ratio is not looked at: small repetitive files pack well. */
  readonly gzipRatioFloorBytes: number;
  /** Containers inside each other in a JSON file, its root included. */
  readonly jsonDepthMax: number;
  readonly rowsMax: number;
}

export const defaultSourceLimits: SourceLimits = {
  cellBytesMax: 64 * 1024,
  recordBytesMax: 1024 * 1024,
  columnsMax: 500,
  unpackedBytesMax: 2 * 1024 ** 3,
  gzipRatioMax: 200,
  gzipRatioFloorBytes: 8 * 1024 * 1024,
  jsonDepthMax: 32,
  rowsMax: 5_000_000,
};
