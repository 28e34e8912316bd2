#!/usr/bin/env node
// Replaces the schema engine that the Prisma CLI downloads. It speaks the same JSON-RPC over stdio, using
// @prisma/schema-engine-wasm and the app's driver adapters. With PRISMA_SCHEMA_ENGINE_BINARY set to this file, all
// `prisma …` commands work offline. Every failure must be reported as an error response. The CLI treats an engine that
// just exits as a success, so a check that relies on the engine would pass without having run.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils'

const args = process.argv.slice(2)
const valuesOf = flag => args.flatMap((arg, at) => (args[at - 1] === flag ? [arg] : []))
const url = JSON.parse(valuesOf('--datasource')[0] ?? '{}').url ?? ''
const models = valuesOf('--datamodels').map(path => [path, readFileSync(path, 'utf8')])
const isPostgres = url
  ? /^postgres(ql)?:/.test(url)
  : models.some(([, text]) => /provider\s*=\s*"postgresql"/.test(text))

/** The table as Prisma's own engines create it. Without it, the methods below fail with P1014. */
const BOOKKEEPING = isPostgres
  ? `CREATE TABLE IF NOT EXISTS "_prisma_migrations" ("id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL,
     "finished_at" TIMESTAMPTZ, "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
     "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`
  : `CREATE TABLE IF NOT EXISTS "_prisma_migrations" ("id" TEXT PRIMARY KEY NOT NULL, "checksum" TEXT NOT NULL,
     "finished_at" DATETIME, "migration_name" TEXT NOT NULL, "logs" TEXT, "rolled_back_at" DATETIME,
     "started_at" DATETIME NOT NULL DEFAULT current_timestamp, "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0)`
const NEEDS_BOOKKEEPING = new Set([
  'applyMigrations',
  'devDiagnostic',
  'diagnoseMigrationHistory',
  'evaluateDataLoss',
  'markMigrationApplied',
  'markMigrationRolledBack',
])

const CHAR_OID = 18
const BPCHAR_OID = 1_042
const SHADOW_DROP = /^DROP DATABASE "prisma_migrate_shadow_db_[^"]*"$/

/** Maps the rows of each result to the indexes of the columns with PostgreSQL's internal type "char". */
const charColumns = new WeakMap()

/**
 * Works around two problems in adapter-pg that affect only migrations: it does not know the type "char", and it drops
 * the shadow database while its own pool is still connected to it.
 */
const patchPostgresDriver = pg => {
  for (const prototype of [pg.Pool.prototype, pg.Client.prototype]) {
    const query = prototype.query
    prototype.query = function (first, ...rest) {
      if (typeof first === 'string' && SHADOW_DROP.test(first)) first += ' WITH (FORCE)'
      const answer = query.call(this, first, ...rest)
      if (!(answer instanceof Promise)) return answer
      return answer.then(result => {
        for (const { fields = [], rows } of [result].flat()) {
          const chars = fields.flatMap((field, at) => (field.dataTypeID === CHAR_OID ? [at] : []))
          for (const at of chars) fields[at].dataTypeID = BPCHAR_OID
          if (chars.length > 0) charColumns.set(rows, chars)
        }
        return result
      })
    }
  }
}

const createAdapterFactory = async () => {
  if (!isPostgres) {
    const { PrismaBetterSqlite3 } = await import('@prisma/adapter-better-sqlite3')
    if (url) mkdirSync(dirname(url.replace(/^file:/, '')), { recursive: true })
    return new PrismaBetterSqlite3({ url: url || ':memory:' })
  }
  const [{ PrismaPg }, { default: pg }, { parse }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('pg'),
    import('pg-connection-string'),
  ])
  patchPostgresDriver(pg)
  // Do not pass a connectionString. It would override the name of the shadow database, so migrations would be tried on
  // the real one.
  const { host, port, user, password, database, ssl, options } = parse(url || 'postgresql://localhost/none')
  const parts = { host, port: port ? Number(port) : undefined, user, password, database, ssl, options }
  return new PrismaPg(Object.fromEntries(Object.entries(parts).filter(([, value]) => value != null)))
}

/** Works around differences between the engine and the drivers. */
const adapt = factory => {
  for (const name of ['connect', 'connectToShadowDb']) {
    const open = factory[name].bind(factory)
    factory[name] = async () => {
      const connection = await open()
      const queryRaw = connection.queryRaw.bind(connection)
      connection.queryRaw = async query => {
        const result = await queryRaw(query)
        // The engine panics if a "char" column is reported as text.
        for (const at of charColumns.get(result.rows) ?? []) result.columnTypes[at] = ColumnTypeEnum.Character
        return result
      }
      // adapter-pg splits scripts at every semicolon, even within strings and functions.
      if (isPostgres) connection.executeScript = async sql => void (await connection.underlyingDriver().query(sql))
      const executeRaw = connection.executeRaw.bind(connection)
      // better-sqlite3 prepares one statement at a time, but a migration contains many.
      connection.executeRaw = async query => {
        if (query.args?.length) return executeRaw(query)
        await connection.executeScript(query.sql)
        return 0
      }
      return connection
    }
  }
  return factory
}

const loadEngine = async () => {
  const folder = dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'))
  const glue = await import(pathToFileURL(join(folder, 'schema_engine_bg.js')).href)
  const wasm = readFileSync(join(folder, 'schema_engine_bg.wasm'))
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': glue })
  glue.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  return glue.SchemaEngine
}

const buildEngine = async () => {
  const factory = adapt(await createAdapterFactory())
  const bound = bindMigrationAwareSqlAdapterFactory(factory)
  const SchemaEngine = await loadEngine()
  const engine = await SchemaEngine.new({ datamodels: models.length > 0 ? models : undefined }, () => {}, bound)
  const run = async (method, params) => {
    if (url && NEEDS_BOOKKEEPING.has(method)) {
      const connection = await factory.connect()
      await connection.executeScript(BOOKKEEPING)
      await connection.dispose()
    }
    return method === 'getDatabaseVersion' ? engine.version(params) : engine[method](params)
  }
  /** Adds the driver's message, which the engine replaces with a number. */
  const explain = error => {
    const text = String(error?.message ?? error)
    const id = /External error id#(\d+)/.exec(text)?.[1]
    const cause = id && bound.errorRegistry.consumeError(Number(id))?.error
    return cause ? `${text}\n${cause.message ?? cause}` : text
  }
  return { run, explain }
}

const send = message => process.stdout.write(`${JSON.stringify(message)}\n`)

const sendError = (id, message, { code, meta = {} } = {}) => {
  const data = { is_panic: false, message, meta, error_code: /^P\d{4}$/.test(code ?? '') ? code : null }
  send({ jsonrpc: '2.0', id, error: { code: 4466, message: 'An error happened. Check the data field.', data } })
}

const answer = async (engine, { id, method, params }) => {
  try {
    const { run } = await engine
    const result = await run(method, params)
    // The CLI shows what the engine prints, not the result of `diff`.
    if (method === 'diff' && result?.stdout) {
      send({ jsonrpc: '2.0', id: `print-${id}`, method: 'print', params: { content: result.stdout } })
    }
    send({ jsonrpc: '2.0', id, result: result ?? null })
  } catch (error) {
    const message = await engine.then(
      ({ explain }) => explain(error),
      () => String(error?.message ?? error),
    )
    sendError(id, message, error)
  }
}

const underWay = new Map()

const serve = async () => {
  const engine = buildEngine()
  engine.catch(() => {}) // the error is reported for each request
  for await (const line of createInterface({ input: process.stdin })) {
    const message = line.trim() ? JSON.parse(line) : {}
    if (!message.method) continue // the CLI's response to our print request
    const answering = answer(engine, message).finally(() => underWay.delete(message.id))
    underWay.set(message.id, answering)
  }
  await Promise.all(underWay.values())
}

/** Runs `cli can-connect-to-database` and similar commands, which report their outcome in the exit code. */
const checkConnection = async () => {
  try {
    const connection = await (await createAdapterFactory()).connect()
    await connection.executeScript('SELECT 1')
    await connection.dispose()
    return 0
  } catch (error) {
    const fields = { message: String(error?.message ?? error), error_code: 'P1001', is_panic: false, meta: {} }
    process.stderr.write(`\n${JSON.stringify({ level: 'ERROR', target: 'schema_engine::logger', fields })}`)
    return 1
  }
}

const CONNECTION_ENDED = '57P01'
/** The engine's panic message. After a panic, the engine responds to no further requests. */
let panic
globalThis.PRISMA_WASM_PANIC_REGISTRY = {
  set_message: message => {
    panic = message
  },
}
process.on('uncaughtException', error => {
  if (error?.code === CONNECTION_ENDED) return // dropping the shadow database ends its idle connections
  for (const id of underWay.keys()) sendError(id, panic ?? String(error?.stack ?? error))
  if (underWay.size === 0) process.stderr.write(`${error?.stack ?? error}\n`)
  process.exit(101)
})

process.exitCode = args.includes('cli') ? await checkConnection() : await serve().then(() => 0)
process.exit()
