/** Databases that hold more servers than anybody would make by hand. */
import type { Bench } from './bench.ts'
import { copyServer } from './database.ts'
import { findFault } from './load.ts'
import { encodePost, STATELESS } from './mcp.ts'
import { createHostedServer, signUp, startPatchbay } from './patchbay.ts'
import { TOOLS, WORKS } from './tools.ts'
import type { Connection } from './wire.ts'

export const TOOLS_PER_SERVER = 5

/** A database with one server of five tools, and `copies` more of it. */
export const createDatabase = async (bench: Bench, apiUrl: string, copies: number) => {
  const directory = bench.createDirectory(`servers-${copies}`)
  const { child, port } = await startPatchbay(bench.rig, bench.options, directory)
  const { uuid } = await createHostedServer(await signUp(port), apiUrl, TOOLS.slice(0, TOOLS_PER_SERVER))
  await child.stop()
  const uuids = copies === 0 ? [] : copyServer(`${directory}/patchbay.db`, uuid, copies)
  return { directory, uuids }
}

const CALL = { id: 1, method: WORKS.user.method, params: WORKS.user.params }

/** One tools/call, checked in full; gives the time it took. */
export const callOnce = async (connection: Connection, port: number, uuid: string): Promise<number> => {
  const request = encodePost({ port, path: `/s/${uuid}` }, STATELESS, CALL)
  const from = performance.now()
  const answer = await connection.request(request)
  const tookMs = performance.now() - from
  const fault = findFault(answer, CALL.id, WORKS.user)
  if (fault !== undefined) throw new Error(`the call to server ${uuid} failed: ${fault}`)
  return tookMs
}
