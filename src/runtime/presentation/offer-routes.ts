import type { UpstreamSource } from '../upstreams/index.ts'
import { groupMark, type NamedOffer, type NamedOffers, type OfferOwner } from './offer-names.ts'
import { mayMatch, toTemplateShape } from './template-shape.ts'

/** Which upstream has what a client names, and how that upstream knows it. */
export type OfferRoute = Pick<NamedOffer, 'owner' | 'own'>

/** Templates of one server that a URI is compared with; those after them are listed only. */
const MAX_TEMPLATES = 2_000

/** Those whose resources may be asked for, by name. */
export const listReaders = (sources: readonly UpstreamSource[]): ReadonlyMap<string, OfferOwner> =>
  new Map(
    sources.flatMap(({ upstream: { id, name, config }, kept }) =>
      config.features.resources && kept.catalogue.capabilities.resources !== undefined ? [[name, { id, name }]] : [],
    ),
  )

/** A thing of an upstream under the name that the upstream has for it. */
const keyOf = (ownerId: string, own: string): string => `${ownerId} ${own}`

const indexNames = (offers: readonly NamedOffer[]) => ({
  byName: new Map(offers.map(offer => [offer.name, offer])),
  byOwn: new Map(offers.map(offer => [keyOf(offer.owner.id, offer.own), offer])),
})

/**
 * The one place where a name that a client uses finds its way back to an upstream, and an upstream's to clients. `group`
 * is what a request to a server that groups says besides, an upstream's name: within it things have their own names too.
 * Undefined: nobody has it.
 */
export const routeOffers = (
  names: NamedOffers['names'],
  readers: ReadonlyMap<string, OfferOwner>,
  { isGrouped }: { isGrouped: boolean },
) => {
  const resources = indexNames(names.resources)
  const templates = indexNames(names.resourceTemplates)
  const prompts = indexNames(names.prompts)
  const shapes = names.resourceTemplates.slice(0, MAX_TEMPLATES).map(template => ({
    template,
    ofName: toTemplateShape(template.name),
    ofOwn: toTemplateShape(template.own),
  }))
  const [sole] = readers.size === 1 ? readers.values() : []

  /** A URI that says whose it is. */
  const readMark = (uri: string): OfferRoute | undefined => {
    const end = isGrouped ? uri.indexOf('+') : -1
    const owner = end === -1 ? undefined : readers.get(uri.slice(0, end))
    return owner && { owner, own: uri.slice(end + 1) }
  }
  const findTemplateOf = (ownerId: string, uri: string): NamedOffer | undefined =>
    shapes.find(({ template, ofOwn }) => template.owner.id === ownerId && mayMatch(ofOwn, uri))?.template
  const isOffered = ({ owner, own }: OfferRoute): boolean =>
    resources.byOwn.has(keyOf(owner.id, own)) || findTemplateOf(owner.id, own) !== undefined
  const findByTemplate = (uri: string): OfferRoute | undefined => {
    const template = shapes.find(({ ofName }) => mayMatch(ofName, uri))?.template
    return template && { owner: template.owner, own: uri.slice(template.name.length - template.own.length) }
  }
  const findWithin = (group: string, uri: string): OfferRoute | undefined => {
    const owner = readers.get(group)
    const marked = readMark(uri)
    return owner && (marked?.owner.id === owner.id ? marked : { owner, own: uri })
  }

  return {
    /**
     * Whoever lists it, then whoever it names and has it, then whoever has a template for it, then whoever it names, and
     * last the only one who may have any that it does not list.
     */
    findResource: (uri: string, group?: string): OfferRoute | undefined => {
      if (group !== undefined && isGrouped) return findWithin(group, uri)
      const listed = resources.byName.get(uri)
      if (listed !== undefined) return listed
      const marked = readMark(uri)
      if (marked !== undefined && isOffered(marked)) return marked
      return findByTemplate(uri) ?? marked ?? (sole && { owner: sole, own: uri })
    },
    /** By a URI template as it is listed, such as completion is asked for. */
    findTemplate: (uriTemplate: string, group?: string): OfferRoute | undefined =>
      group !== undefined && isGrouped
        ? findWithin(group, uriTemplate)
        : (templates.byName.get(uriTemplate) ?? readMark(uriTemplate)),
    findPrompt: (name: string, group?: string): OfferRoute | undefined => {
      const named = prompts.byName.get(name)
      if (group === undefined || !isGrouped || named?.owner.name === group) return named
      return names.prompts.find(({ owner, own }) => owner.name === group && own === name)
    },
    /** How clients know a resource that its upstream calls `own`, such as one that has changed. */
    uriFor: (ownerId: string, own: string): string => {
      const listed = resources.byOwn.get(keyOf(ownerId, own))
      if (listed !== undefined || !isGrouped) return listed?.name ?? own
      const template = findTemplateOf(ownerId, own)
      return template === undefined || template.name === template.own ? own : groupMark(template.owner) + own
    },
  }
}
export type OfferRoutes = ReturnType<typeof routeOffers>
