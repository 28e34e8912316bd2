import { runPatchbay, runUser, type WorldOptions } from '../support/world.ts'
import { type AnyClient, type ClientExtras, type ClientKind, connectClient } from './clients.ts'

type Attached = { serverId: string; url: string; ids: Readonly<Record<string, string>> }

/** Runs Patchbay for the tests of a block, with an operator who attaches MCP servers to public servers. */
export const runAttached = ({ env, ...options }: WorldOptions = {}) => {
  const patchbay = runPatchbay({ ...options, env: { PATCHBAY_ALLOW_STDIO: 'true', ...env } })
  const operator = runUser(patchbay, 'operator@example.com')
  const attach = async (serverId: string, upstream: object): Promise<string> =>
    (await operator.create(`/servers/${serverId}/upstreams`, upstream)).id
  /** Fetches the catalogue and returns the response of the API. */
  const refresh = async (id: string): Promise<unknown> =>
    (await operator.expectOk('POST', `/upstreams/${id}/refresh`)).body
  return {
    patchbay,
    operator,
    attach,
    refresh,
    /** Creates a server, attaches the upstreams under their names, and fetches their catalogues. */
    makeServer: async (upstreams: Readonly<Record<string, object>> = {}, fields: object = {}): Promise<Attached> => {
      const server = { name: 'Attached', maxResponseTokens: 0, access: 'public', ...fields }
      const { id: serverId } = await operator.create('/servers', server)
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
