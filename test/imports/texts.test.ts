import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainText } from '../../src/imports/openapi/texts.ts'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { toolOf } from './reading.ts'

const SENTENCE = 'This sentence explains one more detail of the operation. '

describe('the description of a tool', () => {
  it('is summary and description as plain text, and what it returns', async () => {
    const { tool } = await toolOf({
      summary: 'List orders',
      description:
        '# Orders\n\n> [!NOTE]\n> _Returns **all** my_orders_, see [paging](https://example.com/a).\n\n```\ncurl\n```\n<br>Newest first.',
      responses: { 200: { description: 'A list of orders, newest first.' } },
    })
    expect(tool.description).toBe(
      'List orders. Orders Returns all my_orders, see paging. Newest first. Returns: A list of orders, newest first.',
    )
  })

  it('says first that an operation is deprecated', async () => {
    const operation = await toolOf({ summary: 'List orders', deprecated: true })
    expect(operation.tool.description).toBe('Deprecated. List orders.')
    expect(operation.deprecated).toBe(true)
  })

  it('does not repeat a summary that begins the description', async () => {
    const { tool } = await toolOf({ summary: 'List orders.', description: 'List orders of a shop.' })
    expect(tool.description).toBe('List orders of a shop.')
  })

  it('ends after a sentence within 700 characters', async () => {
    const { description = '' } = (await toolOf({ description: SENTENCE.repeat(30) })).tool
    expect(description.length).toBeLessThanOrEqual(700)
    expect(description.endsWith('operation.')).toBe(true)
  })

  it('is made from method and path if there is no text', async () => {
    expect((await toolOf({}, { path: '/orders' })).tool.description).toBe('Sends GET /orders.')
  })

  it.each([
    'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'https://bob:hunter2@host/',
  ])('contains no secret: %s', async secret => {
    const { tool, summary } = await toolOf({ summary: `Try ${secret}.`, description: `Use "${secret}", or not.` })
    expect(JSON.stringify([tool, summary])).not.toContain(secret)
    expect(tool.description).toContain('[secret removed]')
  })

  it('keeps long names and ids that are no secrets', async () => {
    const text = 'See getAuthenticatorMethodConstraint2 and 123e4567-e89b-12d3-a456-426614174000.'
    expect((await toolOf({ description: text })).tool.description).toBe(text)
  })

  it.each([
    'Api20100401AvailablePhoneNumberCountry',
    'Api20100401AuthCallsIpAccessControlListMapping',
    '223133707-Is-MMS-supported-for-all-carriers-in-US-and-Canada-',
    '360051670533-Getting-Started-with-CNAM-Caller-ID',
    'sk-ecdsa-sha2-nistp256',
  ])('keeps names that consist of words and numbers, and so do the tags: %s', async name => {
    const { tool, tags } = await toolOf({ description: `See ${name}.`, tags: [name] })
    expect(tool.description).toBe(`See ${name}.`)
    expect(tags).toEqual([name])
  })

  it('contains hardly any random text', async () => {
    const random = fc.string({
      unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'),
      minLength: 40,
      maxLength: 64,
    })
    const isLikely = (text: string): boolean => /^(?=.*[a-z])(?=.*[A-Z])(?:\D*\d){5}/.test(text)
    const kept = fc.sample(random.filter(isLikely), 2_000).filter(text => plainText(`A ${text}`, 300).includes(text))
    expect(kept.length).toBeLessThan(3)
  })
})

describe('the description of a parameter', () => {
  it('is that of the parameter, or else that of its schema, at most 300 characters', async () => {
    const parameters = [
      { name: 'a', in: 'query', description: 'Of the *parameter*', schema: { type: 'string', description: 'no' } },
      { name: 'b', in: 'query', schema: { type: 'string', description: 'Of the schema' } },
      { name: 'c', in: 'query', schema: { type: 'string', description: SENTENCE.repeat(10) } },
    ]
    const { a, b, c } = (await toolOf({ parameters })).tool.parameters
    expect([a, b]).toEqual([{ description: 'Of the parameter' }, { description: 'Of the schema' }])
    expect(c?.description?.length).toBeLessThanOrEqual(300)
  })

  it('has no default that is a secret', async () => {
    const schema = { type: 'string', default: 'sk_live_4eC39HqLyjWDarjtT1zdp7dc' }
    const { tool } = await toolOf({ parameters: [{ name: 'a', in: 'query', schema }] })
    expect(tool.parameters.a).toEqual({})
  })
})

describe('results in pages', () => {
  const cursor = { name: 'cursor', in: 'query', schema: { type: 'string' } }
  const list = (properties: JsonObject) => ({
    200: { description: 'OK', content: { 'application/json': { schema: { type: 'object', properties } } } },
  })

  it('are described with the member that has the next cursor', async () => {
    const meta = { type: 'object', properties: { next_cursor: { type: 'string' } } }
    const { tool, pagination } = await toolOf({ parameters: [cursor], responses: list({ meta }) })
    expect(pagination).toEqual({ kind: 'cursor', parameter: 'cursor', field: 'meta.next_cursor' })
    expect(tool.description).toContain('pass meta.next_cursor of the result as cursor.')
    expect(tool.pagination).toEqual({ parameter: 'cursor', at: 'meta.next_cursor' })
  })

  it.each<[string, string, JsonObject, string]>([
    ['Twilio', 'PageToken', { next_page_uri: { type: 'string', format: 'uri', nullable: true } }, 'next_page_uri'],
    [
      'Twilio, newer',
      'PageToken',
      { meta: { properties: { next_page_url: { type: 'string' } } } },
      'meta.next_page_url',
    ],
    ['JSON:API', 'page', { links: { properties: { next: { type: 'string' } } } }, 'links.next'],
    ['HAL', 'page', { _links: { properties: { next: { properties: { href: {} } } } } }, '_links.next.href'],
    ['OData', 'skip', { '@odata.nextLink': { type: 'string' } }, '["@odata.nextLink"]'],
  ])('are described with the member that has the URL of the next one: %s', async (_, name, properties, at) => {
    const { tool, pagination } = await toolOf({ parameters: [{ ...cursor, name }], responses: list(properties) })
    expect(pagination).toEqual({ kind: 'url', parameter: name, field: at })
    expect(tool.pagination).toEqual({ parameter: name, at })
    expect(tool.description).toContain('the end of a result says how to get the next one.')
  })

  it('are described by the number of the page', async () => {
    const { tool, pagination } = await toolOf({ parameters: [{ ...cursor, name: 'page' }] })
    expect(pagination).toEqual({ kind: 'number', parameter: 'page' })
    expect(tool.description).toContain('raise page for the next one.')
    expect(tool.pagination).toBeUndefined()
  })

  it('are known from a Link header', async () => {
    const { pagination } = await toolOf({ responses: { 200: { description: 'OK', headers: { Link: {} } } } })
    expect(pagination).toEqual({ kind: 'link' })
  })

  it('are not assumed for an operation that changes something', async () => {
    expect((await toolOf({ parameters: [cursor] }, { method: 'post' })).pagination).toBeUndefined()
  })
})
