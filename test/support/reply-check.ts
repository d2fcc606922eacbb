/**
 * Holds every reply of a service in this process to the service's own public description.
 *
 * Give the `observer` to the service, and call `requireFit` when it is closed. A status that the description does not
 * list, an unknown member, a wrong type: each is a misfit. Faults that a test asked for come later and are not seen.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ObservedReply, OpenApiDocument, ReplyObserver } from '#src/service/openapi/openapi-document.ts';

export interface ReplyCheck {
  readonly observer: ReplyObserver;
  /** What does not fit, in words; the first of them come first. */
  readonly misfits: readonly string[];
  /** Throws with every misfit. */
  readonly requireFit: () => void;
}

export function createReplyCheck(): ReplyCheck {
  const misfits: string[] = [];
  return {
    misfits,
    observer: (document) => {
      const schemas = schemasOf(document);
      return (reply) => {
        const misfit = misfitOrFailure(reply, schemas);
        if (misfit !== null)
          misfits.push(`${reply.method ?? 'any'} ${reply.path ?? 'other'} ${reply.status}: ${misfit}`);
      };
    },
    requireFit: () => {
      if (misfits.length > 0) throw new Error(`replies that the description does not admit:\n${misfits.join('\n')}`);
    },
  };
}

/** For a process of its own, from where no test can be failed: the service dies of a misfit, and says why. */
export const dieOfMisfit: ReplyObserver = (document) => {
  const { observer, misfits } = createReplyCheck();
  const observe = observer(document);
  return (reply) => {
    observe(reply);
    if (misfits.length === 0) return;
    process.stderr.write(`${misfits.join('\n')}\n`);
    process.exit(1);
  };
};

/** Answers the check of what stands at a place of the document, and undefined where nothing does. */
export interface DocumentSchemas {
  readonly document: OpenApiDocument;
  readonly at: (...steps: readonly string[]) => ValidateFunction | undefined;
}

/** Compiling takes longer than a test: services that describe themselves alike share it. */
const compiled = new Map<string, DocumentSchemas>();

export function schemasOf(document: OpenApiDocument): DocumentSchemas {
  const text = JSON.stringify(document);
  const known = compiled.get(text) ?? compile(document);
  compiled.set(text, known);
  return known;
}

function compile(document: OpenApiDocument): DocumentSchemas {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, allErrors: true });
  // The package is CommonJS: its function stands under `default` for the types alone.
  addFormats.default(ajv);
  // The document is no schema itself, but references lead through it.
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema({ $id: documentId, ...document } as object, documentId, false, false);
  return {
    document,
    at: (...steps) => {
      const pointer = steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')));
      return ajv.getSchema(`${documentId}#/${pointer.join('/')}`);
    },
  };
}

const documentId = 'https://example.com/openapi.json';

/** A schema that cannot be compiled is the description's fault, and no reason to answer otherwise. */
function misfitOrFailure(reply: ObservedReply, schemas: DocumentSchemas): string | null {
  try {
    return misfitOf(reply, schemas);
  } catch (error) {
    return String(error);
  }
}

/** What is wrong with a reply; null where nothing is. */
function misfitOf({ method, path, status, headers, text }: ObservedReply, schemas: DocumentSchemas): string | null {
  if (method === null || path === null) {
    return textMisfit(text, schemas.at('components', 'schemas', 'Error'));
  }
  const responses = schemas.document.paths[path]?.[method.toLowerCase()]?.responses as Responses | undefined;
  const response = responses?.[status];
  if (response === undefined) return 'the description does not list this status';
  const missing = Object.entries(response.headers ?? {}).flatMap(([name, { required = false }]) =>
    required && headers[name.toLowerCase()] === undefined ? [name] : [],
  );
  if (missing.length > 0) return `without the header ${missing.join(', ')}`;
  if (response.content === undefined) return text === null ? null : 'has a body where none is described';
  const place = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', 'application/json'];
  return textMisfit(text, schemas.at(...place, 'schema'));
}

interface DescribedResponse {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly content?: object;
}
type Responses = Readonly<Record<string, DescribedResponse>>;

function textMisfit(text: string | null, validate: ValidateFunction | undefined): string | null {
  if (text === null) return 'has no body where one is described';
  if (validate === undefined) return 'has no schema';
  if (validate(JSON.parse(text))) return null;
  const problems = (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  return `${problems.slice(0, 5).join('; ')} in ${text.slice(0, 500)}`;
}
