import type { JsonObject } from '../../lib/kernel/json.ts'
import type { UpstreamSource } from '../../upstreams/catalogue/present-tools.ts'
import { presentedName } from '../../upstreams/catalogue/present-tools.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { OfferedItem } from '../call/compiled-server.ts'

export type OfferOwner = Pick<Upstream, 'id' | 'name'>

/** `name` is the name that clients see, and `own` is the upstream's own name. */
export type NamedOffer = { owner: OfferOwner; own: string; name: string }

type Offer = NamedOffer & { json: JsonObject }

export type OfferNaming = {
  /** Whether items with the same name are told apart by their upstream's name. If not, only the first is listed. */
  isGrouped: boolean
  onSkipped: (item: string, reason: string) => void
}

/** Returns the prefix that marks a URI or prompt name as belonging to an upstream. */
export const groupMark = ({ name }: OfferOwner): string => `${name}+`

const KINDS = {
  resources: { what: 'a resource', key: 'uri' },
  resourceTemplates: { what: 'a resource template', key: 'uriTemplate' },
  prompts: { what: 'a prompt', key: 'name' },
} as const
type OfferKind = keyof typeof KINDS

const collect = (kind: OfferKind, sources: readonly UpstreamSource[]): Offer[] =>
  sources.flatMap(({ upstream, stored }) => {
    const owner = { id: upstream.id, name: upstream.name }
    return stored.catalogue[kind].map(({ name: own, declared }) => {
      const name = kind === 'prompts' ? presentedName(upstream, own) : own
      return { owner, own, name, json: declared }
    })
  })

const listShared = (offers: readonly Offer[]): ReadonlySet<string> => {
  const seen = new Set<string>()
  const shared = new Set<string>()
  for (const { name } of offers) (seen.has(name) ? shared : seen).add(name)
  return shared
}

/** Gives each offer the name that clients see, and sorts the offers by it. */
const nameOffers = (
  kind: OfferKind,
  sources: readonly UpstreamSource[],
  { isGrouped, onSkipped }: OfferNaming,
): Offer[] => {
  const offers = collect(kind, sources)
  const shared = isGrouped ? listShared(offers) : undefined
  const named = new Map<string, Offer>()
  for (const offer of offers) {
    const { owner } = offer
    const name = shared?.has(offer.name) === true ? groupMark(owner) + offer.name : offer.name
    const holder = named.get(name)
    if (holder === undefined) named.set(name, { ...offer, name })
    else {
      const why = `of the MCP server "${owner.name}" is left out, because "${holder.owner.name}" has one with the same name`
      onSkipped(name, `${KINDS[kind].what} ${why}`)
    }
  }
  return [...named.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const ofKinds = <T>(make: (kind: OfferKind) => T): Readonly<Record<OfferKind, T>> => ({
  resources: make('resources'),
  resourceTemplates: make('resourceTemplates'),
  prompts: make('prompts'),
})

const toItems = (kind: OfferKind, offers: readonly Offer[]): OfferedItem[] =>
  offers.map(({ name, json }) => ({ name, json: { [KINDS[kind].key]: name, ...json } }))

const withoutJson = (offers: readonly Offer[]): NamedOffer[] =>
  offers.map(({ owner, own, name }) => ({ owner, own, name }))

/** Gives the upstreams' resources, templates and prompts the names that clients see. */
export const nameAllOffers = (sources: readonly UpstreamSource[], naming: OfferNaming) => {
  const offers = ofKinds(kind => nameOffers(kind, sources, naming))
  const listGroup = ({ upstream: { id, name } }: UpstreamSource) => {
    const isOwn = ({ owner }: Offer): boolean => owner.id === id
    return [name, ofKinds(kind => toItems(kind, offers[kind].filter(isOwn)))] as const
  }
  return {
    lists: ofKinds(kind => toItems(kind, offers[kind])),
    /** Lists by upstream. Defined only on grouped servers. */
    groupLists: naming.isGrouped ? new Map(sources.map(listGroup)) : undefined,
    names: ofKinds(kind => withoutJson(offers[kind])),
  }
}

export type NamedOffers = ReturnType<typeof nameAllOffers>
