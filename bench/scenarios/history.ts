/** Reads a long history: its pages, with filters, on SQLite and PostgreSQL. */
import { z } from 'zod'
import type { Bench } from '../bench.ts'
import { type CalledServer, generateCalls } from '../history/calls.ts'
import { fillPostgres, fillSqlite } from '../history/fill.ts'
import { createHostedServer, createToken, type Send, sendWith, signUp, startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import { TOOLS } from '../tools.ts'

const SERVERS = 20
const MAX_PAGE_MS = 100
const MAX_CHART_MS = 300
/** The first request of each kind is not counted, because it compiles the query. */
const WARM_UP = 1
const REQUESTS = 20

const Server = z.object({ organizationId: z.string() })

/** Creates the servers whose calls are generated. */
const createServers = async (send: Send, apiUrl: string): Promise<CalledServer[]> => {
  const servers: CalledServer[] = []
  for (let index = 0; index < SERVERS; index++) {
    const { uuid, instances } = await createHostedServer(send, apiUrl, TOOLS)
    const { organizationId } = Server.parse(await send('GET', `/servers/${uuid}`))
    const tools = [...instances].map(([name, { id }]) => ({ name, instanceId: id }))
    servers.push({ id: uuid, organizationId, tools })
  }
  return servers
}

/** The requests to measure. Each asks for a first page, so that it reads as far as its filter needs. */
const requestsFor = ([server]: readonly CalledServer[]) => {
  const path = `/servers/${server?.id}/executions`
  const ofOrganization = `/organizations/${server?.organizationId}/executions`
  return {
    'first page of an organization': ofOrganization,
    'of an organization by tool': `${ofOrganization}?tool=${server?.tools[0]?.name}`,
    'of an organization by server': `${ofOrganization}?server=${server?.id}`,
    'first page of a server': path,
    'by tool': `${path}?tool=${server?.tools[0]?.name}`,
    'by a frequent result': `${path}?result=rejected`,
    'by a rare result': `${path}?result=blocked`,
    'by time': `${path}?to=${new Date(Date.now() - 45 * 86_400_000).toISOString()}`,
  }
}

/** Charts, from the sums of the calls. */
const chartsFor = ([server]: readonly CalledServer[]) => {
  const path = `/organizations/${server?.organizationId}/executions/charts?from=${new Date(Date.now() - 30 * 86_400_000).toISOString()}`
  return {
    'chart of 30 days': path,
    'chart of 30 days by tool': `${path}&tool=${server?.tools[0]?.name}`,
    'chart of a day': `/organizations/${server?.organizationId}/executions/charts`,
  }
}

const measure = async (send: Send, path: string): Promise<number[]> => {
  const timesMs: number[] = []
  for (let index = 0; index < WARM_UP + REQUESTS; index++) {
    const from = performance.now()
    await send('GET', path)
    if (index >= WARM_UP) timesMs.push(performance.now() - from)
  }
  return timesMs
}

const measureOn = async (bench: Bench, database: string, apiUrl: string, url: string | undefined) => {
  const { calls } = bench.options
  const [checkout] = bench.checkouts
  if (checkout === undefined) throw new Error('no checkout was given')
  const directory = bench.createDirectory(`history-${database}`)
  const settings = url === undefined ? {} : { DATABASE_URL: url }
  const first = await startPatchbay(bench, checkout, directory, settings)
  const builder = await signUp(first.port)
  const servers = await createServers(builder, apiUrl)
  const token = await createToken(builder, ['read'])
  await first.child.stop()

  bench.log(`filling ${database} with ${calls} calls`)
  const from = performance.now()
  const generated = generateCalls(servers, calls, Date.now())
  if (url === undefined) fillSqlite(`${directory}/patchbay.db`, generated)
  else await fillPostgres(url, generated)
  const fillSeconds = (performance.now() - from) / 1_000

  const patchbay = await startPatchbay(bench, checkout, directory, settings)
  const send = sendWith(patchbay.port, token)
  const rows: string[][] = []
  const requests = [
    ...Object.entries(requestsFor(servers)).map(([name, path]) => ({ name, path, atMost: MAX_PAGE_MS })),
    ...Object.entries(chartsFor(servers)).map(([name, path]) => ({ name, path, atMost: MAX_CHART_MS })),
  ]
  for (const { name, path, atMost } of requests) {
    const timesMs = await measure(send, path)
    rows.push([name, show(median(timesMs)), show(quantile(timesMs, 0.95))])
    const title = `history of ${calls} calls, ${name}, ${database}, p95`
    bench.addFigure({ title, required: { atMost }, measured: quantile(timesMs, 0.95), unit: 'ms' })
  }
  await patchbay.child.stop()
  const title = `History of ${calls} calls on ${database}, filled in ${show(fillSeconds)} s, ready in ${show(patchbay.readyMs)} ms`
  bench.addTable({ title, columns: ['', 'median ms', 'p95 ms'], rows })
}

export const runHistory = async (bench: Bench): Promise<void> => {
  const api = await bench.startOwn('fake-api', 'load')
  await measureOn(bench, 'SQLite', api.url, undefined)
  const postgres = await bench.startOwn('postgres', 'both')
  await measureOn(bench, 'PostgreSQL', api.url, await (await fetch(postgres.url)).text())
}
