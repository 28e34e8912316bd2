import type { JsonObject, StopSignal } from '../kernel/index.ts'
import {
  askUpstream,
  explainUpstreamFault,
  findUpstreamRefusal,
  presentedName,
  type Upstream,
  type UpstreamSource,
} from '../upstreams/index.ts'
import type { OpenedGlobals } from './compile-tool.ts'
import { maskResult, type UpstreamToolParts } from './compile-upstream-tools.ts'
import type { CompiledOffers, OfferedItem, PassedAnswer } from './compiled-server.ts'

/** JSON-RPC 2.0 §5.1. */
const INTERNAL_ERROR = -32_603

type Owner = Pick<Upstream, 'id' | 'name'>
type OfferParts = Omit<UpstreamToolParts, 'recorder'> & { onSkipped: (item: string, reason: string) => void }

/** One list of all upstreams: of two items with one name the first stays. */
const createShelf = (what: string, onSkipped: OfferParts['onSkipped']) => {
  const items: OfferedItem[] = []
  const owners = new Map<string, Owner>()
  return {
    add: (name: string, json: JsonObject, owner: Owner): boolean => {
      const holder = owners.get(name)
      if (holder !== undefined) {
        onSkipped(name, `${what} of the upstream "${owner.name}" is left out: "${holder.name}" has one of that name`)
        return false
      }
      owners.set(name, owner)
      items.push({ name, json })
      return true
    },
    find: (name: string): Owner | undefined => owners.get(name),
    list: (): OfferedItem[] => items.sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

/** Whether a URI may be one of a template's (RFC 6570), whatever its expressions say. Linear: no pattern of strangers runs. */
const mayMatch = (template: string, uri: string): boolean => {
  const [first = '', ...rest] = template.split(/\{[^{}]*\}/)
  const last = rest.pop()
  if (last === undefined) return template === uri
  if (!uri.startsWith(first)) return false
  let at = first.length
  for (const piece of rest) {
    const found = uri.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return uri.length - last.length >= at && uri.endsWith(last)
}

/** Resources, templates and prompts of upstreams, and how each is asked for. Undefined where no upstream offers any. */
export const compileUpstreamOffers = (
  sources: readonly UpstreamSource[],
  { masker }: OpenedGlobals,
  { connections, onInternalError, onSkipped }: OfferParts,
): CompiledOffers | undefined => {
  if (sources.length === 0) return undefined
  const resources = createShelf('a resource', onSkipped)
  const templates = createShelf('a resource template', onSkipped)
  const prompts = createShelf('a prompt', onSkipped)
  const promptNames = new Map<string, string>()
  const readers: Owner[] = []
  for (const { upstream, kept } of sources) {
    const { catalogue } = kept
    const owner = { id: upstream.id, name: upstream.name }
    if (upstream.config.features.resources && catalogue.capabilities.resources !== undefined) readers.push(owner)
    for (const { name: uri, declared } of catalogue.resources) resources.add(uri, { uri, ...declared }, owner)
    for (const { name: uriTemplate, declared } of catalogue.resourceTemplates) {
      templates.add(uriTemplate, { uriTemplate, ...declared }, owner)
    }
    for (const { name: own, declared } of catalogue.prompts) {
      const name = presentedName(upstream, own)
      if (prompts.add(name, { name, ...declared }, owner)) promptNames.set(name, own)
    }
  }
  const ask = async (owner: Owner, method: string, params: JsonObject, signal: StopSignal): Promise<PassedAnswer> => {
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

  const templateList = templates.list()
  /** Whoever lists it, then whoever has a template for it, then the only one who may have any that it does not list. */
  const findReader = (uri: string): Owner | undefined => {
    const listed = resources.find(uri)
    if (listed !== undefined) return listed
    const template = templateList.find(({ name }) => mayMatch(name, uri))
    if (template !== undefined) return templates.find(template.name)
    return readers.length === 1 ? readers[0] : undefined
  }
  return {
    resources: resources.list(),
    resourceTemplates: templateList,
    prompts: prompts.list(),
    readResource: (uri, { signal }) => {
      const owner = findReader(uri)
      return owner && ask(owner, 'resources/read', { uri }, signal)
    },
    getPrompt: (name, args, { signal }) => {
      const owner = prompts.find(name)
      const own = promptNames.get(name)
      if (owner === undefined || own === undefined) return undefined
      return ask(owner, 'prompts/get', args === undefined ? { name: own } : { name: own, arguments: args }, signal)
    },
  }
}
