import { z } from 'zod'
import { newExecutionId } from '../../../src/history/execution-id.ts'
import type { Rows } from '../../../src/lib/db/client.ts'
import type { ApiClient, ApiResponse } from '../../support/api-client.ts'
import type { DatabaseKindForTests } from '../../support/databases.ts'
import { during, startWorld } from '../../support/world.ts'

type CallRow = Rows.Prisma.ExecutionCreateManyInput

/** The time of the newest call. Call `n` is `n` seconds older. */
export const NOON = new Date('2026-11-22T12:00:00.000Z').getTime()
export const secondsBeforeNoon = (seconds: number): Date => new Date(NOON - seconds * 1_000)

const ROWS_AT_ONCE = 1_000

const CallsPage = z.object({
  items: z.array(z.looseObject({ id: z.string(), startedAt: z.string(), tool: z.string().nullable() })),
  nextCursor: z.string().nullable(),
  lookedUntil: z.string().nullable(),
})

const openCallsWorld = async (kind: DatabaseKindForTests) => {
  const world = await startWorld({ kind })
  const owner = await world.person()
  const { organizationId } = owner
  const server = async (access: 'public' | 'organization' | 'private' = 'organization', api: ApiClient = owner) => {
    const { id } = await api.create('/servers', { name: 'Weather', access, organizationId })
    return id
  }
  const buildCall = (serverId: string, index: number, changes: Partial<CallRow>): CallRow => ({
    id: newExecutionId(),
    serverId,
    organizationId,
    tool: 'get_weather',
    startedAt: secondsBeforeNoon(index),
    durationMs: 12.5,
    outcome: 'ok',
    result: 'success',
    status: 200,
    requestBytes: 0,
    responseBytes: 300,
    ...changes,
  })
  return {
    ...world,
    owner,
    organizationId,
    server,
    /** Adds calls to a server, newest first, and returns their ids. */
    addCalls: async (
      serverId: string,
      count: number,
      changesOf: (index: number) => Partial<CallRow> = () => ({}),
    ): Promise<string[]> => {
      const rows = Array.from({ length: count }, (_, index) => buildCall(serverId, index, changesOf(index)))
      for (let first = 0; first < count; first += ROWS_AT_ONCE) {
        await world.db.execution.createMany({ data: rows.slice(first, first + ROWS_AT_ONCE) })
      }
      return rows.map(({ id }) => id)
    },
  }
}

/** Runs the application on a database for the tests of a block, with the owner of an organization. */
export const runCallsWorld = (kind: DatabaseKindForTests) => during(() => openCallsWorld(kind))

/** Reads a page of calls. */
export const readCalls = async (api: ApiClient, path: string) => CallsPage.parse((await api.expectOk('GET', path)).body)

/** Reads all pages of a list of calls. `pages` is their number. */
export const readAllCalls = async (api: ApiClient, path: string) => {
  const ids: string[] = []
  let pages = 0
  let cursor: string | null = null
  do {
    const page = await readCalls(api, cursor === null ? path : `${path}&cursor=${cursor}`)
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
    pages++
  } while (cursor !== null)
  return { ids, pages }
}

const Refusal = z.object({ detail: z.string() })
export const refusalOf = ({ status, body }: ApiResponse): string => `${status} ${Refusal.parse(body).detail}`
