/**
 * A temporary PostgreSQL server. Responds to every request with the URL of a new empty database on it.
 *
 *   node bench/postgres.ts --port 9300
 */
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { startEmbeddedPostgres } from '../scripts/embedded-postgres.ts'

const { values } = parseArgs({ options: { port: { type: 'string', default: '9300' } } })

const postgres = await startEmbeddedPostgres()
process.once('SIGTERM', async () => {
  await postgres.stop()
  process.exit()
})

let count = 0
const createDatabase = async (): Promise<string> => {
  const name = `bench_${++count}`
  const client = new Client({ connectionString: postgres.urlOf('postgres') })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  return postgres.urlOf(name)
}

createServer(async (_request, response) => response.end(await createDatabase())).listen(
  Number(values.port),
  '127.0.0.1',
)
