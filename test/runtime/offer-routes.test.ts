import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { nameAllOffers } from '../../src/runtime/presentation/offer-names.ts'
import { listReaders, routeOffers } from '../../src/runtime/presentation/offer-routes.ts'
import type { UpstreamSource } from '../../src/upstreams/catalogue/present-tools.ts'

type Offer = { resources?: string[]; templates?: string[]; prompts?: string[] }

const toItems = (names: readonly string[] = []) => names.map(name => ({ name, declared: {} as JsonObject }))

const sourceOf = (name: string, { resources, templates, prompts }: Offer): UpstreamSource => ({
  upstream: {
    id: `id-${name}`,
    serverId: 'server',
    name,
    description: undefined,
    isEnabled: true,
    responseTokens: {},
    toolAnswers: {},
    config: {
      transport: 'stdio',
      command: 'x',
      args: [],
      env: {},
      timeoutMs: 1,
      isEager: false,
      features: { tools: true, resources: true, prompts: true },
      auth: { type: 'none' },
    },
    createdAt: new Date(0),
    updatedAt: new Date(0),
  },
  stored: {
    source: '',
    hash: '',
    fetchedAt: new Date(0),
    catalogue: {
      serverInfo: {},
      capabilities: { resources: {} },
      tools: [],
      resources: toItems(resources),
      resourceTemplates: toItems(templates),
      prompts: toItems(prompts),
      flags: [],
    },
  },
})

const build = (offers: Record<string, Offer>, isGrouped = true) => {
  const sources = Object.entries(offers).map(([name, offer]) => sourceOf(name, offer))
  const skipped: string[] = []
  const naming = { isGrouped, onSkipped: (item: string) => skipped.push(item) }
  const { lists, names } = nameAllOffers(sources, naming)
  const routes = routeOffers(names, listReaders(sources), naming)
  const find = (uri: string, group?: string): string | undefined => {
    const route = routes.findResource(uri, group)
    return route && `${route.owner.name}: ${route.own}`
  }
  return { uris: lists.resources.map(({ name }) => name), skipped, routes, find }
}

describe('URIs of several upstreams, grouped', () => {
  it('get a prefix if two upstreams share one, and lead back to their upstream', () => {
    const { uris, skipped, find } = build({ a: { resources: ['x:/1', 'x:/2'] }, b: { resources: ['x:/1'] } })
    expect(uris).toEqual(['a+x:/1', 'b+x:/1', 'x:/2'])
    expect(skipped).toEqual([])
    expect([find('a+x:/1'), find('b+x:/1'), find('x:/2')]).toEqual(['a: x:/1', 'b: x:/1', 'a: x:/2'])
    expect(find('x:/1')).toBeUndefined()
    expect(find('a+x:/2')).toBe('a: x:/2')
  })

  it('may have a scheme that starts like the prefix of another upstream', () => {
    const git = { templates: ['file:///{path}'] }
    const host = { resources: ['git+ssh://host/1'], templates: ['git+https://{host}'] }
    const { find } = build({ git, host })
    expect(find('git+ssh://host/1')).toBe('host: git+ssh://host/1')
    expect(find('git+https://example.com')).toBe('host: git+https://example.com')
    expect(find('git+file:///a')).toBe('git: file:///a')
    expect(find('git+other:/a')).toBe('git: other:/a')
  })

  it('of shared templates lead to the upstream of their prefix', () => {
    const { routes, find } = build({ a: { templates: ['x:/{id}'] }, b: { templates: ['x:/{id}', '{+any}'] } })
    expect([find('a+x:/7'), find('b+x:/7')]).toEqual(['a: x:/7', 'b: x:/7'])
    expect(routes.findTemplate('b+x:/{id}')).toMatchObject({ owner: { name: 'b' }, own: 'x:/{id}' })
    expect(routes.uriFor('id-b', 'x:/7')).toBe('b+x:/7')
    expect(routes.uriFor('id-b', 'y:/7')).toBe('y:/7')
  })

  it('belong only to the group that a request names', () => {
    const { find } = build({ a: { resources: ['x:/1'] }, b: { resources: ['x:/1'] } })
    expect(find('x:/1', 'b')).toBe('b: x:/1')
    expect(find('b+x:/1', 'b')).toBe('b: x:/1')
    expect(find('x:/1', 'nobody')).toBeUndefined()
  })
})

describe('URIs of several upstreams, not grouped', () => {
  it('belong to the first upstream if two share one, without prefixes or groups', () => {
    const { uris, skipped, find } = build({ a: { resources: ['x:/1'] }, b: { resources: ['x:/1'] } }, false)
    expect(uris).toEqual(['x:/1'])
    expect(skipped).toEqual(['x:/1'])
    expect(find('x:/1', 'b')).toBe('a: x:/1')
    expect(find('a+x:/1')).toBeUndefined()
  })
})

describe('prompts of several upstreams', () => {
  it('are found by their prefixed name, or in their group by their own', () => {
    const { routes } = build({ a: { prompts: ['ask'] }, b: { prompts: ['ask'] } })
    expect(routes.findPrompt('b_ask')).toMatchObject({ owner: { name: 'b' }, own: 'ask' })
    expect(routes.findPrompt('ask', 'a')).toMatchObject({ owner: { name: 'a' }, own: 'ask' })
    expect(routes.findPrompt('b_ask', 'a')).toBeUndefined()
    expect(routes.findPrompt('ask')).toBeUndefined()
  })
})
