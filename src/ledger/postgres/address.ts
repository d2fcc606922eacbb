/**
 * Where the ledger is in PostgreSQL: what `DATABASE_URL` says, as libpq reads it.
 *
 * Invariant: the password is in `connection` and nowhere else; `shown` is what may be printed and logged.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { hostsProblem } from '#src/database-url.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';

export interface Address {
  readonly connection: {
    /** A name, an address, or the folder of a socket. */
    readonly host: string;
    readonly port: number;
    readonly user: string | undefined;
    readonly password: string | undefined;
    readonly database: string | undefined;
    readonly ssl: false | ConnectionOptions;
  };
  /** `prefer`: without encryption where the server has none. */
  readonly mayBePlain: boolean;
  readonly schema: string;
  /** The URL without password. */
  readonly shown: string;
}

const defaultPort = 5_432;
const defaultSchema = 'patchbay';
/** Names that need no quotes anywhere: in the search path, in messages, in a shell. */
const schemaName = /^[a-z_][a-z0-9_]{0,47}$/;
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof sslModes)[number];
/** Parameters that are read here; any other is refused, since ignoring it would silently do something else. */
const parameterNames = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'schema', 'options', 'host', 'port'];

/**
 * @param suffix of the schema's name: the sandbox has a schema beside that of the real service.
 * @throws PatchbayError `usage` `databaseUrlInvalid`; the message holds no part of the URL that may be secret.
 */
export function parseAddress(databaseUrl: string, suffix = ''): Address {
  const url = urlOf(databaseUrl);
  for (const name of url.searchParams.keys()) {
    if (!parameterNames.includes(name)) {
      // Behind a ? that is not escaped the rest of a password looks like parameters.
      if (url.search.includes('@')) throw invalid('DATABASE_URL has a parameter that is not known', escapes);
      throw invalid(
        `DATABASE_URL has a parameter that is not known: ${name}`,
        `Known are ${parameterNames.join(', ')}.`,
      );
    }
  }
  const parameter = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const host = parameter('host') ?? (decoded(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost');
  const mode = sslModeOf(parameter('sslmode'), host);
  const user = decoded(url.username) || undefined;
  const database = decoded(url.pathname.slice(1)) || user;
  const schema = `${schemaOf(parameter('schema'), parameter('options'))}${suffix}`;
  const port = Number(parameter('port') ?? (url.port || defaultPort));
  return {
    connection: {
      ...{ host, port, user, password: decoded(url.password) || undefined, database },
      ssl: sslOf(mode, { root: parameter('sslrootcert'), cert: parameter('sslcert'), key: parameter('sslkey') }),
    },
    mayBePlain: mode === 'prefer',
    schema,
    shown: `postgres://${user === undefined ? '' : `${encodeURIComponent(user)}@`}${host.startsWith('/') ? encodeURIComponent(host) : host}:${port}/${database ?? ''}?schema=${schema}`,
  };
}

/** For passwords that end too early, and of which the rest would be shown as host or database. */
const escapes = 'In a user name or a password, write @ as %40, / as %2F, ? as %3F, # as %23, % as %25.';

/** No message repeats the text: it may hold a password. */
function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPostgres = /^postgres(?:ql)?:\/\//i.test(text);
  const hosts = isPostgres ? hostsProblem(text) : null;
  if (hosts !== null) throw invalid(`DATABASE_URL has ${hosts}`);
  if (url !== null && isPostgres) {
    if (url.pathname.includes('@')) throw invalid('DATABASE_URL has an @ or a / too many', escapes);
    if (url.hash === '') return url;
    throw invalid('DATABASE_URL has something behind a #', escapes);
  }
  throw invalid(
    'DATABASE_URL is not a URL of the form postgres://user:password@host:5432/database',
    text.includes('@') ? escapes : undefined,
  );
}

function schemaOf(schema: string | undefined, options: string | undefined): string {
  const [, searched] = /^\s*-c\s*search_path=([^\s,]+)\s*$/.exec(options ?? '') ?? [];
  if (options !== undefined && searched === undefined) {
    throw invalid('DATABASE_URL has options other than -c search_path=SCHEMA', 'Name the schema with schema=NAME.');
  }
  const name = schema ?? searched ?? defaultSchema;
  if (schemaName.test(name) && !name.startsWith('pg_')) return name;
  throw invalid(
    `DATABASE_URL names the schema ${JSON.stringify(name.slice(0, 80))}, which Patchbay does not take`,
    'Use up to 48 lower-case letters, digits and underscores, the first one no digit.',
  );
}

/** What libpq means, except that a host elsewhere is never spoken to in plain text by default where it can be encrypted. */
function sslModeOf(text: string | undefined, host: string): SslMode {
  const mode = text ?? 'prefer';
  // Sockets are not encrypted, whatever the mode says, as in libpq.
  if (host.startsWith('/')) return 'disable';
  if (mode === 'allow') return 'prefer';
  if ((sslModes as readonly string[]).includes(mode)) return mode as SslMode;
  throw invalid(`DATABASE_URL has an unknown sslmode: ${mode}`, `Use one of ${sslModes.join(', ')}.`);
}

function sslOf(
  mode: SslMode,
  files: { readonly root: string | undefined; readonly cert: string | undefined; readonly key: string | undefined },
): false | ConnectionOptions {
  if (mode === 'disable') return false;
  const own = {
    ...(files.cert === undefined ? {} : { cert: readCertificate('sslcert', files.cert) }),
    ...(files.key === undefined ? {} : { key: readCertificate('sslkey', files.key) }),
  };
  const ca =
    files.root === undefined || files.root === 'system' ? {} : { ca: readCertificate('sslrootcert', files.root) };
  // With a root certificate `require` checks it, as libpq does.
  const verifies = mode === 'verify-full' || mode === 'verify-ca' || (mode === 'require' && files.root !== undefined);
  if (!verifies) return { ...own, rejectUnauthorized: false };
  if (mode === 'verify-full') return { ...own, ...ca };
  return { ...own, ...ca, checkServerIdentity: () => undefined };
}

function readCertificate(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw invalid(
      `the file of ${name} in DATABASE_URL cannot be read: ${messageOf(error)}`,
      'Check its path and its rights.',
    );
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid('DATABASE_URL holds a % that begins no escape', 'Write a % in a name or a password as %25.');
  }
}

function invalid(
  message: string,
  hint = 'Set it so, or unset it to keep the ledger in the data folder.',
): PatchbayError {
  return new PatchbayError('usage', 'databaseUrlInvalid', message, { hint });
}
