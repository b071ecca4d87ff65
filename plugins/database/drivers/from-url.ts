import { fault } from '../startup-codes.ts'

/** Connection options that a URL can express. */
export type UrlOptions =
  | { readonly type: 'better-sqlite3'; readonly database: string }
  | ServerOptions<'postgres'>
  | ServerOptions<'mysql'>
  | ServerOptions<'mariadb'>

interface ServerOptions<Type extends string> {
  readonly type: Type
  readonly host: string
  readonly port: number
  readonly database: string
  readonly username?: string
  readonly password?: string
  readonly ssl?: true | { readonly rejectUnauthorized: false }
}

const SERVERS = {
  'postgres:': ['postgres', 5432],
  'postgresql:': ['postgres', 5432],
  'mysql:': ['mysql', 3306],
  'mariadb:': ['mariadb', 3306],
} as const

/**
 * Reads a `DATABASE_URL`: `sqlite:data/app.db`, `sqlite::memory:`, `postgres://…`, `mysql://…`, `mariadb://…`. The one
 * query parameter is `sslmode`: `disable`, `require` (verifies the certificate) or `no-verify`.
 * @returns options to spread: `createDataSource({ ...fromUrl(url), entities: schema })`.
 * @throws StartupError that never shows the URL, because it may contain a password.
 */
export function fromUrl(url: string): UrlOptions {
  const text = url.trim()
  const sqlite = /^sqlite:(?:\/\/)?(?<database>.+)$/s.exec(text)?.groups?.['database']
  if (sqlite) return { type: 'better-sqlite3', database: sqlite }
  const parsed = parse(text)
  const [type, port] = SERVERS[parsed.protocol as keyof typeof SERVERS] ?? unreadable('its scheme is unknown')
  return {
    type,
    host: parsed.hostname.replace(/^\[(.*)\]$/, '$1') || 'localhost',
    port: Number(parsed.port || port),
    database: databaseOf(parsed),
    ...(parsed.username && { username: decode(parsed.username) }),
    ...(parsed.password && { password: decode(parsed.password) }),
    ...sslOf(parsed),
  }
}

function parse(text: string): URL {
  try {
    return new URL(text)
  } catch {
    // The error of `URL` contains the whole string, so it does not become the cause.
    return unreadable('it is not a URL')
  }
}

/** Refuses a raw `#`, `/` or `?` in the password: it ends the address early, and messages could show the rest. */
function databaseOf({ pathname, hash, search }: URL): string {
  const name = decode(pathname.slice(1))
  if (hash || /[@/]/.test(name) || search.includes('@'))
    unreadable('its user or password contains a raw `/`, `?`, `#` or `@`')
  return name || unreadable('it names no database')
}

function sslOf({ searchParams }: URL): Pick<ServerOptions<string>, 'ssl'> {
  for (const name of searchParams.keys())
    if (name !== 'sslmode') unreadable(`the query parameter '${name}' is not supported, only sslmode`)
  const mode = searchParams.get('sslmode') ?? 'disable'
  if (mode === 'disable') return {}
  if (mode === 'require' || mode === 'verify-full') return { ssl: true }
  if (mode === 'no-verify') return { ssl: { rejectUnauthorized: false } }
  return unreadable(`sslmode must be disable, require, verify-full or no-verify`)
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return unreadable('it contains a `%` that does not begin an escape')
  }
}

function unreadable(reason: string): never {
  throw fault(
    'MORTAR_DATABASE_URL',
    `The database URL cannot be used: ${reason}. (The URL is not shown, because it may contain a password.)`,
    {
      remedy:
        'Write sqlite:data/app.db, sqlite::memory:, postgres://user:password@host:5432/name or mysql://…, ' +
        'with special characters of the password percent-encoded. Set everything else in the options.',
    },
  )
}
