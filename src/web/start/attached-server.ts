import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { IsSecret } from '../../tools/import/draft-parameters.ts'
import { hasWrittenHost, readPastedUrl } from '../../tools/import/read-pasted.ts'
import { mayBeSecretValue, ownerOf } from '../../tools/import/secret-values.ts'
import { looksSecret } from '../../tools/secret-looks.ts'
import type { UpstreamCatalogues } from '../../upstreams/catalogue/catalogues.ts'
import { UpstreamError } from '../../upstreams/connection/upstream-error.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { UpstreamService } from '../../upstreams/upstreams.service.ts'
import { serverNameFor } from './request-server.ts'

/** Dependencies of `attachServer`. */
export type AttachedServerParts = {
  servers: Pick<ServerService, 'createServer' | 'removeServer'>
  globals: Pick<GlobalService, 'createGlobal'>
  upstreams: Pick<UpstreamService, 'createUpstream' | 'updateUpstream'>
  upstreamCatalogues: Pick<UpstreamCatalogues, 'refresh'>
}

/** The URL of an MCP server. Its secrets are replaced by `{{key}}`. */
type McpUrl = {
  url: string
  headers: Readonly<Record<string, string>>
  transport: 'http' | 'sse'
  secrets: ReadonlyMap<string, string>
}

/** Many MCP servers have a key in their URL. Nothing in it comes from a model, so what may be a secret is one. */
const isSecretInMcpUrl: IsSecret = (place, name, value) =>
  mayBeSecretValue(place, name, value) || (place === 'path' && looksSecret(value))

const refuseUrl = (message: string): AppError =>
  new AppError('invalid_request', message, { errors: [{ path: 'url', message }] })

/** Reads a typed URL. Throws `invalid_request`, without text of the URL, if it is not one of an MCP server. */
export const readMcpUrl = (typed: string): McpUrl => {
  const pasted = readPastedUrl(typed, isSecretInMcpUrl)
  if (!pasted.ok || pasted.value.draft.variables.length > 0 || !hasWrittenHost(pasted.value.draft)) {
    throw refuseUrl('Enter the whole URL of the MCP server, such as https://mcp.example.com/mcp, without placeholders.')
  }
  const { definition, secrets } = pasted.value.draft
  return {
    url: definition.url,
    headers: Object.fromEntries(definition.headers.map(({ name, value }) => [name, value])),
    transport: /\/sse\/?(?:\?|$)/.test(definition.url) ? 'sse' : 'http',
    secrets: new Map(secrets.map(({ parameter, value }) => [parameter, value])),
  }
}

/** Returns whether a typed text may be shown again: nothing in it could be a secret. */
export const mayBeShown = (typed: string): boolean =>
  !/[@?=]/.test(typed) && typed.split(/[^\w-]+/).every(word => !looksSecret(word))

const upstreamNameFor = (url: string): string => {
  const owner = ownerOf(url)?.slice(0, 40) ?? 'mcp'
  return owner === 'proxy' ? 'mcp' : owner
}

const needsAccount = (error: unknown): boolean =>
  error instanceof AppError && error.cause instanceof UpstreamError && error.cause.kind === 'unauthorized'

/** Connects to the new MCP server. If it asks for authorization and its URL has no secrets, it gets a shared account. */
const connect = async (
  { upstreams, upstreamCatalogues }: AttachedServerParts,
  actor: Actor,
  upstream: Upstream,
  hasSecrets: boolean,
): Promise<void> => {
  try {
    await upstreamCatalogues.refresh(upstream)
  } catch (error) {
    if (hasSecrets || !needsAccount(error)) throw error
    await upstreams.updateUpstream(actor, upstream.id, { auth: { type: 'oauth', per: 'server' } })
  }
}

/**
 * Creates a server for the organization, attaches the MCP server at the URL and connects to it. If it cannot be reached,
 * removes the server again and throws `invalid_request` with the reason.
 */
export const attachServer = async (
  parts: AttachedServerParts,
  actor: Actor,
  organizationId: string,
  { url, headers, transport, secrets }: McpUrl,
): Promise<{ serverId: string; upstreamId: string }> => {
  const { servers, globals, upstreams } = parts
  const server = await servers.createServer(actor, {
    name: serverNameFor(url),
    access: 'organization',
    presentation: 'flat',
    allowedUsers: [],
    organizationId,
  })
  try {
    for (const [key, value] of secrets) await globals.createGlobal(actor, server.id, key, { value, secret: true })
    const input = { name: upstreamNameFor(url), transport, url, headers }
    const { upstream } = await upstreams.createUpstream(actor, server.id, input)
    await connect(parts, actor, upstream, secrets.size > 0)
    return { serverId: server.id, upstreamId: upstream.id }
  } catch (error) {
    await servers.removeServer(actor, server.id)
    if (!(error instanceof AppError) || error.code === 'internal') throw error
    throw refuseUrl(`Could not connect. ${error.message}`)
  }
}
