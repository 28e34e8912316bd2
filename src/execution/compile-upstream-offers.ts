import { isJsonObject, type JsonObject, type StopSignal } from '../kernel/index.ts'
import { askUpstream, explainUpstreamFault, findUpstreamRefusal, type UpstreamSource } from '../upstreams/index.ts'
import type { OpenedGlobals } from './compile-tool.ts'
import { maskResult, type UpstreamToolParts } from './compile-upstream-tools.ts'
import { type CompiledOffers, isRefused, type PassedAnswer } from './compiled-server.ts'
import { nameAllOffers, type OfferNaming, type OfferOwner } from './offer-names.ts'
import { listReaders, routeOffers } from './offer-routes.ts'

/** JSON-RPC 2.0 §5.1. */
const INTERNAL_ERROR = -32_603

type OfferParts = Omit<UpstreamToolParts, 'recorder'> & OfferNaming

/** What was read, under the URI that it was asked for by. */
const renameContents = (answer: PassedAnswer, own: string, uri: string): PassedAnswer => {
  if (isRefused(answer) || own === uri || !Array.isArray(answer.passed.contents)) return answer
  const contents = answer.passed.contents.map(item =>
    isJsonObject(item) && item.uri === own ? { ...item, uri } : item,
  )
  return { passed: { ...answer.passed, contents } }
}

/** Resources, templates and prompts of upstreams, and how each is asked for. Undefined where no upstream offers any. */
export const compileUpstreamOffers = (
  sources: readonly UpstreamSource[],
  { masker }: OpenedGlobals,
  { connections, onInternalError, ...naming }: OfferParts,
): CompiledOffers | undefined => {
  if (sources.length === 0) return undefined
  const { lists, groupLists, names } = nameAllOffers(sources, naming)
  const routes = routeOffers(names, listReaders(sources), naming)
  const ask = async (
    owner: OfferOwner,
    method: string,
    params: JsonObject,
    signal: StopSignal,
  ): Promise<PassedAnswer> => {
    const connection = connections.find(owner.id)
    const refused = (message: string, code = INTERNAL_ERROR): PassedAnswer => ({ refused: { code, message } })
    if (connection === undefined) return refused(`The upstream "${owner.name}" is disabled, or was removed.`)
    try {
      return { passed: maskResult(await askUpstream(connection, { method, params }, signal), masker) }
    } catch (error) {
      const said = findUpstreamRefusal(error)
      if (said !== undefined) return refused(masker.text(said.message), said.code)
      const why = explainUpstreamFault(error, owner.name, connection.state())
      if (why === undefined) onInternalError(error)
      return refused(why === undefined ? 'Internal error' : masker.text(why))
    }
  }
  return {
    ...lists,
    groups: groupLists,
    readResource: (uri, { signal }, group) => {
      const route = routes.findResource(uri, group)
      if (route === undefined) return undefined
      const { owner, own } = route
      return ask(owner, 'resources/read', { uri: own }, signal).then(answer => renameContents(answer, own, uri))
    },
    getPrompt: (name, args, { signal }, group) => {
      const route = routes.findPrompt(name, group)
      if (route === undefined) return undefined
      const { owner, own } = route
      return ask(owner, 'prompts/get', args === undefined ? { name: own } : { name: own, arguments: args }, signal)
    },
  }
}
