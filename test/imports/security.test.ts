import SwaggerClient from 'swagger-client'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { comparedOurs, comparedTheirs } from './comparison.ts'
import { descriptionOf, document, onlyTool, readAll, render } from './reading.ts'

const SCHEMES = {
  key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  q: { type: 'apiKey', in: 'query', name: 'api key' },
  c: { type: 'apiKey', in: 'cookie', name: 'sid' },
  basic: { type: 'http', scheme: 'Basic' },
  bearerAuth: { type: 'http', scheme: 'bearer' },
  oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://x.example/t', scopes: {} } } },
  oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://x.example/.well-known/openid-configuration' },
  mtls: { type: 'mutualTLS' },
  digest: { type: 'http', scheme: 'digest' },
}

/** Values of the globals. */
const SECRETS = {
  key: 'k 1',
  q: 'q&v',
  c: 'c1',
  basic: Buffer.from('bob:pa:ss').toString('base64'),
  bearer_auth: 'tok',
  oauth: 'otok',
  oidc: 'itok',
}

/** The same for swagger-client. */
const AUTHORIZED = {
  key: 'k 1',
  q: 'q&v',
  c: 'c1',
  basic: { username: 'bob', password: 'pa:ss' },
  bearerAuth: { value: 'tok' },
  oauth: { token: { access_token: 'otok', token_type: 'bearer' } },
  oidc: { token: { access_token: 'itok', token_type: 'bearer' } },
}

const specOf = (security: JsonObject[] | undefined): JsonObject =>
  descriptionOf({
    paths: { '/a': { get: { operationId: 'a', ...(security && { security }), responses: {} } } },
    components: { securitySchemes: SCHEMES },
  })

const read = async (security: JsonObject[] | undefined, more: JsonObject = {}) => {
  const { operations, summary } = await readAll([document({ ...specOf(security), ...more })])
  return { operation: onlyTool(operations), summary }
}

describe('an operation', () => {
  it.each([
    { security: [{ key: [] }], uses: ['key'] },
    { security: [{ q: [] }], uses: ['q'] },
    { security: [{ c: [] }], uses: ['c'] },
    { security: [{ basic: [] }], uses: ['basic'] },
    { security: [{ bearerAuth: [] }], uses: ['bearerAuth'] },
    { security: [{ oauth: ['read'] }], uses: ['oauth'] },
    { security: [{ key: [], q: [] }], uses: ['key', 'q'] },
    { security: [{ mtls: [] }, { key: [] }], uses: ['key'] },
    { security: [{ basic: [], bearerAuth: [] }, { c: [] }], uses: ['c'] },
    { security: [{}, { bearerAuth: [] }], uses: ['bearerAuth'] },
    { security: [{}], uses: [] },
    { security: [], uses: [] },
  ])('with security $security sends what swagger-client sends', async ({ security, uses }) => {
    const { operation } = await read(security)
    const authorized = Object.fromEntries(Object.entries(AUTHORIZED).filter(([name]) => uses.includes(name)))
    const theirs = SwaggerClient.buildRequest({
      spec: specOf(security),
      operationId: 'a',
      securities: { authorized },
    })
    expect(comparedOurs(render(operation, SECRETS))).toEqual(comparedTheirs(theirs))
    expect(operation.unsupportedSecurity).toEqual([])
  })

  it('with OpenID Connect sends a bearer token', async () => {
    const { operation, summary } = await read([{ oidc: [] }])
    expect(render(operation, SECRETS).headers).toEqual([['Authorization', 'Bearer itok']])
    expect(summary.secrets.find(({ key }) => key === 'oidc')?.asks).toBe('oauth')
  })

  it.each([
    { security: [{ mtls: [] }], needs: 'mtls (mutualTLS)' },
    { security: [{ digest: [] }], needs: 'digest (HTTP digest)' },
    { security: [{ nowhere: [] }], needs: 'nowhere (not described)' },
  ])('that needs $needs is imported with a note', async ({ security, needs }) => {
    const { operation } = await read(security)
    expect(operation.unsupportedSecurity).toEqual([needs])
    expect(operation.notes).toEqual([`It needs ${needs}, which tools cannot send, so calls will fail.`])
  })

  it('has the security of the description unless it has its own', async () => {
    const security = [{ key: [] }]
    expect((await read(undefined, { security })).operation.globals).toEqual(['base_url', 'key'])
    expect((await read([], { security })).operation.globals).toEqual(['base_url'])
  })

  it('binds each secret to a global of its own', async () => {
    const { operation, summary } = await read([{ basic: [] }])
    expect(operation.tool.parameters.basic).toEqual({ binding: { source: 'server', key: 'basic', secret: true } })
    expect(summary.secrets.map(({ key, asks }) => [key, asks])).toContainEqual(['basic', 'basic'])
    expect(summary.secrets).toHaveLength(7)
  })

  it.each([
    { security: 'bearer', header: ['Authorization', 'Bearer x'], key: 'access_token' },
    { security: 'basic', header: ['Authorization', 'Basic x'], key: 'basic_credentials' },
    { security: { header: 'X-Api-Key' }, header: ['X-Api-Key', 'x'], key: 'x_api_key' },
  ] as const)(
    'authenticates as given if the description does not say how: $security',
    async ({ security, header, key }) => {
      const paths = { '/a': { get: { responses: {} } } }
      const { operations, summary } = await readAll([document(descriptionOf({ paths }))], { security })
      expect(render(onlyTool(operations), { [key]: 'x' }).headers).toEqual([header])
      expect(summary.secrets.map(secret => secret.key)).toEqual([key])
      const described = await readAll([document(specOf([{ key: [] }]))], { security })
      expect(onlyTool(described.operations).globals).toEqual(['base_url', 'key'])
    },
  )

  it('keeps the names of tools that exist already', async () => {
    const { operations } = await readAll([document(specOf([]))], { takenNames: ['a'] })
    expect(onlyTool(operations).tool.name).toBe('a_2')
  })

  it('leaves out parameters that repeat a security scheme, and headers that are described elsewhere', async () => {
    const parameters = [
      { name: 'X-Key', in: 'header', schema: { type: 'string' } },
      ...['Authorization', 'accept', 'Content-Type', 'Host', 'X-Other'].map(name => ({
        name,
        in: 'header',
        schema: {},
      })),
    ]
    const paths = { '/a': { get: { parameters, responses: {} } } }
    const { operation } = await read([], { paths })
    expect(operation.tool.headers).toEqual([{ name: 'X-Other', value: '{{X-Other?}}' }])
    expect(operation.notes).toEqual(['The header Host was left out, because the connection sets it.'])
  })
})
