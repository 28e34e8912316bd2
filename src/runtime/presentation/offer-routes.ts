import { mayMatch, toTemplateShape } from '../../results/shape/template-shape.ts'
import type { UpstreamSource } from '../../upstreams/catalogue/present-tools.ts'
import { groupMark, type NamedOffer, type NamedOffers, type OfferOwner } from './offer-names.ts'

/** The upstream that has the item a client named, and the upstream's own name for the item. */
export type OfferRoute = Pick<NamedOffer, 'owner' | 'own'>

/** Maximum number of templates that URIs are matched against. Further templates are only listed. */
const MAX_TEMPLATES = 2_000

/** Returns the upstreams whose resources can be read, by upstream name. */
export const listReaders = (sources: readonly UpstreamSource[]): ReadonlyMap<string, OfferOwner> =>
  new Map(
    sources.flatMap(({ upstream: { id, name, config }, stored }) =>
      config.features.resources && stored.catalogue.capabilities.resources !== undefined ? [[name, { id, name }]] : [],
    ),
  )

/** Returns the map key of an upstream's item. */
const keyOf = (ownerId: string, own: string): string => `${ownerId} ${own}`

const indexNames = (offers: readonly NamedOffer[]) => ({
  byName: new Map(offers.map(offer => [offer.name, offer])),
  byOwn: new Map(offers.map(offer => [keyOf(offer.owner.id, offer.own), offer])),
})

/**
 * Maps names between clients and upstreams. On a grouped server, `group` names an upstream, and the upstream's own
 * names are then also accepted. Returns undefined if no upstream has the item.
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

  /** Parses a URI that starts with an upstream's prefix. */
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
     * Finds the upstream of a resource. Tries in this order: the upstream that lists the URI, the upstream named by the
     * URI's prefix if it has the resource, an upstream with a matching template, the upstream named by the prefix, and
     * the only upstream with readable resources.
     */
    findResource: (uri: string, group?: string): OfferRoute | undefined => {
      if (group !== undefined && isGrouped) return findWithin(group, uri)
      const listed = resources.byName.get(uri)
      if (listed !== undefined) return listed
      const marked = readMark(uri)
      if (marked !== undefined && isOffered(marked)) return marked
      return findByTemplate(uri) ?? marked ?? (sole && { owner: sole, own: uri })
    },
    /** Finds a template by its listed text, which completion requests contain. */
    findTemplate: (uriTemplate: string, group?: string): OfferRoute | undefined =>
      group !== undefined && isGrouped
        ? findWithin(group, uriTemplate)
        : (templates.byName.get(uriTemplate) ?? readMark(uriTemplate)),
    findPrompt: (name: string, group?: string): OfferRoute | undefined => {
      const named = prompts.byName.get(name)
      if (group === undefined || !isGrouped || named?.owner.name === group) return named
      return names.prompts.find(({ owner, own }) => owner.name === group && own === name)
    },
    /** Returns the URI by which clients know an upstream's resource, for example to tell them that it has changed. */
    uriFor: (ownerId: string, own: string): string => {
      const listed = resources.byOwn.get(keyOf(ownerId, own))
      if (listed !== undefined || !isGrouped) return listed?.name ?? own
      const template = findTemplateOf(ownerId, own)
      return template === undefined || template.name === template.own ? own : groupMark(template.owner) + own
    },
  }
}
export type OfferRoutes = ReturnType<typeof routeOffers>
