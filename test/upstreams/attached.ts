import { beforeAll } from 'vitest'
import { runPatchbay } from '../servers/patchbay.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import type { DatabaseKindForTests } from '../support/databases.ts'
import { type AnyClient, type ClientExtras, type ClientKind, connectClient } from './clients.ts'

type Attached = { serverId: string; url: string; ids: Readonly<Record<string, string>> }

/** Runs Patchbay, with an operator who attaches MCP servers to public servers, for the tests of a block. */
export const runAttached = ({ kind, env = {} }: { kind?: DatabaseKindForTests; env?: Record<string, string> } = {}) => {
  const patchbay = runPatchbay(kind, { PATCHBAY_ALLOW_STDIO: 'true', ...env })
  let operator: (ApiClient & { email: string; userId: string }) | undefined
  beforeAll(async () => {
    operator = await signUp(patchbay.origin, 'operator@example.com')
  })
  const getOperator = () => {
    if (operator === undefined) throw new Error('the operator exists only during the tests of its block')
    return operator
  }
  const attach = async (serverId: string, upstream: object): Promise<string> =>
    (await getOperator().create(`/servers/${serverId}/upstreams`, upstream)).id
  /** Fetches the catalogue and returns what the API says of it. */
  const refresh = async (id: string): Promise<unknown> =>
    (await getOperator().expectOk('POST', `/upstreams/${id}/refresh`)).body
  return {
    patchbay,
    get operator() {
      return getOperator()
    },
    attach,
    refresh,
    /** Makes a server and attaches the upstreams, by name, with their catalogues fetched. */
    makeServer: async (upstreams: Readonly<Record<string, object>> = {}, fields: object = {}): Promise<Attached> => {
      const server = { name: 'Attached', maxResponseTokens: 0, access: 'public', ...fields }
      const { id: serverId } = await getOperator().create('/servers', server)
      const ids: Record<string, string> = {}
      for (const [name, upstream] of Object.entries(upstreams))
        ids[name] = await attach(serverId, { name, ...upstream })
      await Promise.all(Object.values(ids).map(refresh))
      return { serverId, url: `${patchbay.origin}/s/${serverId}`, ids }
    },
    connect: (kind: ClientKind, serverId: string, extras?: ClientExtras): Promise<AnyClient> =>
      connectClient(kind, `${patchbay.origin}/s/${serverId}`, extras),
  }
}

/** `get` returns the value that was made before the tests of the block. */
export const beforeTests = <T>(make: () => Promise<T>): { readonly value: T } => {
  let made: { value: T } | undefined
  beforeAll(async () => {
    made = { value: await make() }
  })
  return {
    get value() {
      if (made === undefined) throw new Error('it exists only during the tests of its block')
      return made.value
    },
  }
}
