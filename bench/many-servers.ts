/** Databases with thousands of servers. */
import type { Bench } from './bench.ts'
import type { Checkout } from './checkouts.ts'
import { copyServer } from './database.ts'
import { findFault } from './load.ts'
import { encodePost, STATELESS } from './mcp.ts'
import { createHostedServer, signUp, startPatchbay } from './patchbay.ts'
import { TOOLS, WORKS } from './tools.ts'
import type { Connection } from './wire.ts'

export const TOOLS_PER_SERVER = 5

/** Creates a database with one server of five tools, and `copies` copies of it. */
export const createDatabase = async (bench: Bench, checkout: Checkout, apiUrl: string, copies: number) => {
  const directory = bench.createDirectory(`servers-${copies}`)
  const { child, port } = await startPatchbay(bench, checkout, directory)
  const { uuid } = await createHostedServer(await signUp(port), apiUrl, TOOLS.slice(0, TOOLS_PER_SERVER))
  await child.stop()
  const uuids = copies === 0 ? [] : copyServer(`${directory}/patchbay.db`, uuid, copies)
  return { directory, uuids }
}

const CALL = { id: 1, method: WORKS.user.method, params: WORKS.user.params }

/** Sends one tools/call, checks the whole response, and returns how long it took. */
export const callOnce = async (connection: Connection, port: number, uuid: string): Promise<number> => {
  const request = encodePost({ port, path: `/s/${uuid}` }, STATELESS, CALL)
  const from = performance.now()
  const response = await connection.request(request)
  const tookMs = performance.now() - from
  const fault = findFault(response, CALL.id, WORKS.user)
  if (fault !== undefined) throw new Error(`the call to server ${uuid} failed: ${fault}`)
  return tookMs
}
