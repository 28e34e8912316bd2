import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { failure, type Result, success } from '../kernel/result.ts'

/** `file` is absolute. */
export type SqliteTarget = { kind: 'sqlite'; file: string }
export type PostgresTarget = { kind: 'postgresql'; url: string }
/** The database to use. */
export type DatabaseTarget = SqliteTarget | PostgresTarget
export type DatabaseKind = DatabaseTarget['kind']

const parseFile = (url: string): Result<DatabaseTarget, string> => {
  const path = url.slice('file:'.length)
  if (path === '' || path.startsWith(':memory:')) {
    return failure('an SQLite database needs a file path, such as file:./data/patchbay.db')
  }
  if (/[?#]/.test(path)) return failure('a file: URL must not have parameters')
  if (!path.startsWith('//')) return success({ kind: 'sqlite', file: resolve(path) })
  try {
    return success({ kind: 'sqlite', file: fileURLToPath(url) })
  } catch {
    return failure('the path in the file: URL is not valid; write file:./relative.db or file:/absolute.db')
  }
}

/**
 * Parses `DATABASE_URL`. `file:` means SQLite, with a path relative to the working directory. `postgres:` and
 * `postgresql:` mean PostgreSQL. Error messages never contain the URL because it may contain a password.
 */
export const parseDatabaseUrl = (url: string): Result<DatabaseTarget, string> => {
  if (url.startsWith('file:')) return parseFile(url)
  if (!/^postgres(ql)?:\/\//.test(url)) {
    return failure('write file:<path> (SQLite) or postgres://<user>:<password>@<host>/<name> (PostgreSQL)')
  }
  return URL.canParse(url) ? success({ kind: 'postgresql', url }) : failure('the postgres: URL is not valid')
}
