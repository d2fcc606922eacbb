/**
 * What the public description says of an operation (`GET /openapi.json`). Its schemas are the very ones that check
 * requests, so that the two cannot differ.
 */
import type { z } from 'zod';
import type { Refusal } from '../http/refusal.ts';

export type OperationTag = 'Contacts' | 'Phone numbers' | 'Custom fields' | 'Calls' | 'Messages';

export interface OperationDescription {
  /** Unique, as `createContact`. */
  readonly operationId: string;
  readonly tag: OperationTag;
  readonly summary: string;
  /** Sentences for a person, with the section of the interface. */
  readonly about: string;
  /** The path parameter; null where the path has none. */
  readonly pathId: z.ZodType | null;
  /** The parameters; null where there are none. Arrays are sent as the repeated plain key. */
  readonly query: z.ZodObject | null;
  readonly body: DescribedBody | null;
  readonly reply: DescribedReply;
  /** Refusals beyond those that every operation has (401, 429, 500): status and when. */
  readonly refusals: Readonly<Record<number, string>>;
  /** Refusals worth showing in full. Where there is none of a status, one is made from its sentence. */
  readonly refusalExamples?: readonly Refusal[];
}

export interface DescribedBody {
  readonly schema: z.ZodType;
  readonly example: unknown;
}

export interface DescribedReply {
  readonly status: number;
  readonly about: string;
  /** Null: an empty body. */
  readonly schema: z.ZodType | null;
  readonly example?: unknown;
}
