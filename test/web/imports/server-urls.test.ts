import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillServerUrl, readServerUrl } from '../../../src/web/imports/server-urls.ts'

const server = (url: string, values: Record<string, string> = {}) => ({
  url,
  description: undefined,
  variables: Object.entries(values).map(([name, value]) => ({
    name,
    default: value,
    values: [],
    description: undefined,
  })),
})

describe('the URL of a server with variables', () => {
  it('takes typed values, and otherwise the defaults', () => {
    const shop = server('https://{shop}.example.com/{version}/', { shop: 'demo', version: 'v1' })
    expect(fillServerUrl(shop, name => (name === 'shop' ? 'mine' : ''))).toBe('https://mine.example.com/v1')
  })

  it('tells which values a URL was filled with', () => {
    const shop = server('https://{shop}.example.com/{version}', { shop: 'demo', version: 'v1' })
    expect([...(readServerUrl(shop, 'https://mine.example.com/v2') ?? [])]).toEqual([
      ['shop', 'mine'],
      ['version', 'v2'],
    ])
    expect(readServerUrl(shop, 'https://mine.example.org/v2')).toBeUndefined()
    expect(readServerUrl(server('https://api.example.com'), 'https://api.example.com')?.size).toBe(0)
    expect(readServerUrl(server('https://api.example.com'), 'https://api.example.com/v2')).toBeUndefined()
  })

  it('is read as it was filled, whatever the values', () => {
    const value = fc.stringMatching(/^[a-z0-9]{1,12}$/)
    fc.assert(
      fc.property(value, value, (region, version) => {
        const api = server('https://{region}.api.example/{version}', { region: 'eu', version: '1' })
        const url = fillServerUrl(api, name => (name === 'region' ? region : version))
        expect(Object.fromEntries(readServerUrl(api, url) ?? [])).toEqual({ region, version })
      }),
    )
  })
})
