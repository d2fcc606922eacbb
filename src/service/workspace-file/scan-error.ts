import type { Place } from './place.ts';

/** The text is no JSON, or not the object with sections. Internal: becomes an error that names the file. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
  readonly place: Place;

  constructor(message: string, place: Place) {
    super(message);
    this.place = place;
  }
}
