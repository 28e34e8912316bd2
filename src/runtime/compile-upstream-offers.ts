import { isJsonObject, type JsonObject } from '../lib/kernel/json.ts'
import type { Masker } from '../results/mask/masking.ts'
import { MaskingError } from '../results/mask/masking.ts'
import type { UpstreamSource } from '../upstreams/catalogue/present-tools.ts'
import type { CallLink } from '../upstreams/connection/call-link.ts'
import { explainUpstreamFault, requestUpstream } from '../upstreams/connection/call-upstream-tool.ts'
import { findErrorResponse, isResourceNotFound, RESOURCE_NOT_FOUND } from '../upstreams/connection/error-responses.ts'
import type { UpstreamState } from '../upstreams/upstream.ts'
import type { CompiledOffers } from './call/compiled-server.ts'
import type { CallContext } from './call/compiled-tool.ts'
import { isRefused, type RefusedResult, type UpstreamResult } from './call/tool-result.ts'
import type { UpstreamToolParts } from './compile-upstream-tools.ts'
import { maskedTell, withLink } from './linked-request.ts'
import type { OpenedGlobals } from './opened-globals.ts'
import { passOnError } from './pass-on-errors.ts'
import { canComplete, canSubscribe, offeredCapabilities } from './presentation/offer-capabilities.ts'
import { nameAllOffers, type OfferNaming, type OfferOwner } from './presentation/offer-names.ts'
import { listReaders, type OfferRoutes, routeOffers } from './presentation/offer-routes.ts'

/** JSON-RPC 2.0 §5.1. */
const METHOD_NOT_FOUND = -32_601
const INTERNAL_ERROR = -32_603

const refused = (message: string, code = INTERNAL_ERROR): RefusedResult => ({ refused: { code, message } })
const gone = ({ name }: OfferOwner): string => `The MCP server "${name}" is disabled or was removed.`

type OfferParts = Pick<UpstreamToolParts, 'upstreamConnections' | 'upstreamConversation' | 'onInternalError'> &
  OfferNaming

/** Replaces the upstream's own URI of a resource with the URI that the client requested, also in an error. */
const renameResource = (result: UpstreamResult, own: string, uri: string): UpstreamResult => {
  if (isRefused(result)) {
    const { code, message } = result.refused
    return code === RESOURCE_NOT_FOUND ? { refused: { code, message, data: { uri } } } : result
  }
  if (own === uri || !Array.isArray(result.passed.contents)) return result
  const contents = result.passed.contents.map(item =>
    isJsonObject(item) && item.uri === own ? { ...item, uri } : item,
  )
  return { passed: { ...result.passed, contents } }
}

/**
 * Finds the prompt or resource named by a completion's `ref`. Returns the upstream that has it, and the ref with the
 * upstream's own name.
 */
const findCompleted = ({ ref }: JsonObject, routes: OfferRoutes, group: string | undefined) => {
  if (!isJsonObject(ref)) return undefined
  if (ref.type === 'ref/prompt' && typeof ref.name === 'string') {
    const route = routes.findPrompt(ref.name, group)
    return route && { owner: route.owner, ref: { ...ref, name: route.own } }
  }
  if (ref.type !== 'ref/resource' || typeof ref.uri !== 'string') return undefined
  const route = routes.findTemplate(ref.uri, group) ?? routes.findResource(ref.uri, group)
  return route && { owner: route.owner, ref: { ...ref, uri: route.own } }
}

/** Compiles the resources, templates and prompts of upstreams. Returns undefined if there are no upstreams. */
export const compileUpstreamOffers = (
  sources: readonly UpstreamSource[],
  { masker: globalMasker }: OpenedGlobals,
  { upstreamConnections, upstreamConversation, onInternalError, ...naming }: OfferParts,
): CompiledOffers | undefined => {
  const [first] = sources
  if (first === undefined) return undefined
  const { lists, groupLists, names } = nameAllOffers(sources, naming)
  const routes = routeOffers(names, listReaders(sources), naming)
  const ask = async (
    owner: OfferOwner,
    method: string,
    params: JsonObject,
    { caller, signal, link }: CallContext,
  ): Promise<UpstreamResult> => {
    const connection = upstreamConnections.findFor(owner.id, caller?.userId)
    if (connection === undefined) return refused(gone(owner))
    const masker = connection.secrets === undefined ? globalMasker : globalMasker.also(connection.secrets)
    const send = (own: CallLink | undefined) => requestUpstream(connection, { method, params }, signal, own)
    try {
      const received = await withLink(link, owner.id, masker, upstreamConversation, send)
      return { passed: await masker.long.object(received, signal) }
    } catch (error) {
      const why = explain(error, owner, masker, connection.state())
      const isMissing = method === 'resources/read' && isResourceNotFound(error)
      if (isMissing) return refused(why.refused.message, RESOURCE_NOT_FOUND)
      return passOnError(error, { link }, why.refused.message, masker) ?? why
    }
  }
  const explain = (
    error: unknown,
    owner: OfferOwner,
    masker: Masker,
    state: UpstreamState | undefined,
  ): RefusedResult => {
    if (error instanceof MaskingError) return refused(error.message)
    const said = findErrorResponse(error, masker.text)
    if (said !== undefined) return refused(said.message, said.code)
    const why = explainUpstreamFault(error, owner.name, state, masker.text)
    if (why === undefined) onInternalError(error)
    return refused(why ?? 'Internal error')
  }
  const completers = new Set(sources.filter(canComplete).map(({ upstream }) => upstream.id))
  const publishers = new Set(sources.filter(canSubscribe).map(({ upstream }) => upstream.id))
  const { serverId } = first.upstream
  return {
    ...lists,
    groups: groupLists,
    capabilities: offeredCapabilities(sources),
    readResource: (uri, context, group) => {
      const route = routes.findResource(uri, group)
      if (route === undefined) return undefined
      const { owner, own } = route
      return ask(owner, 'resources/read', { uri: own }, context).then(result => renameResource(result, own, uri))
    },
    getPrompt: (name, args, context, group) => {
      const route = routes.findPrompt(name, group)
      if (route === undefined) return undefined
      const { owner, own } = route
      return ask(owner, 'prompts/get', args === undefined ? { name: own } : { name: own, arguments: args }, context)
    },
    complete: (params, context, group) => {
      const found = findCompleted(params, routes, group)
      if (found === undefined) return undefined
      const { owner, ref } = found
      // Not every upstream supports completions.
      if (!completers.has(owner.id)) return Promise.resolve({ passed: { completion: { values: [] } } })
      const { _meta, ...asked } = params
      return ask(owner, 'completion/complete', { ...asked, ref }, context)
    },
    subscribe: (uri, onUpdated, group) => {
      const route = routes.findResource(uri, group)
      if (route === undefined) return undefined
      const { owner, own } = route
      if (!publishers.has(owner.id)) {
        const why = `The MCP server "${owner.name}" does not support resource subscriptions`
        return Promise.resolve(refused(why, METHOD_NOT_FOUND))
      }
      const tell = ({ uri: updated }: JsonObject): void => {
        if (updated === own) onUpdated(uri)
        else if (typeof updated === 'string') onUpdated(routes.uriFor(owner.id, updated))
      }
      return upstreamConversation.subscriptions
        .subscribe(owner.id, own, tell)
        .then(stop => ({ stop }))
        .catch((error: unknown) =>
          explain(error, owner, globalMasker, upstreamConnections.findFor(owner.id, undefined)?.state()),
        )
    },
    tellRootsChanged: ({ key }) => upstreamConversation.dedicated.notifyAll(key, 'notifications/roots/list_changed'),
    closeOwn: ({ key }) => upstreamConversation.dedicated.closeClient(key),
    listenToLogs: (level, origin, listener) => {
      void upstreamConversation.logs.lowerLevel(serverId, level)
      return upstreamConversation.logs.listen(serverId, origin, maskedTell(listener, globalMasker))
    },
  }
}
