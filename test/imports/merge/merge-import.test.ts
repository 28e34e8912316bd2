import { describe, expect, it } from 'vitest'
import { compareImport, type ImportedTool } from '../../../src/imports/merge/merge-import.ts'
import type { MappedOperation } from '../../../src/imports/openapi/imported-operation.ts'
import { CreateTool } from '../../../src/tools/toolkits.schema.ts'
import { toolOf } from './tools.ts'

type Identity = { operationId?: string; method?: string; path: string }

const sourceOf = ({ operationId, method = 'GET', path }: Identity) => ({
  key: `${method} ${path}`,
  operationId,
  method,
  path,
})

const importedOf = (identity: Identity, changes = {}): ImportedTool => {
  const base = toolOf({
    url: `https://a.example${identity.path.replaceAll('{', '{{').replaceAll('}', '}}')}`,
    parameters: {},
  })
  return { ...sourceOf(identity), base, mine: { ...base, ...changes } }
}

const operationOf = (identity: Identity, changes = {}): MappedOperation => ({
  ...sourceOf(identity),
  summary: undefined,
  tags: [],
  deprecated: false,
  tool: CreateTool.parse({ ...importedOf(identity).base, ...changes }),
  tokens: 0,
  findings: [],
  notes: [],
  outputSchema: undefined,
  pagination: undefined,
  globals: [],
  unsupportedSecurity: [],
})

describe('importing again', () => {
  it('finds operations by their id, else by method and path, whatever the parameters are called', () => {
    const tools = [
      importedOf({ operationId: 'getOrder', path: '/orders/{id}' }),
      importedOf({ path: '/users/{id}' }),
      importedOf({ path: '/users/{id}', method: 'DELETE' }),
      importedOf({ operationId: 'gone', path: '/gone' }),
    ]
    const operations = [
      operationOf({ path: '/users/{user_id}' }),
      operationOf({ operationId: 'getOrder', path: '/v2/orders/{id}' }),
      operationOf({ operationId: 'deleteUser', path: '/users/{id}', method: 'DELETE' }),
      operationOf({ operationId: 'new', path: '/new' }),
    ]
    const compared = compareImport(tools, operations)
    expect(compared.tools.map(({ imported, operation }) => [imported.key, operation.key])).toEqual([
      ['GET /orders/{id}', 'GET /v2/orders/{id}'],
      ['GET /users/{id}', 'GET /users/{user_id}'],
      ['DELETE /users/{id}', 'DELETE /users/{id}'],
    ])
    expect(compared.gone.map(({ key }) => key)).toEqual(['GET /gone'])
    expect(compared.added.map(({ key }) => key)).toEqual(['GET /new'])
  })

  it('names what would break, and leaves conflicts to a choice', () => {
    const identity = { path: '/orders/{id}' }
    const tool = importedOf(identity, { description: 'Mine.' })
    const operation = operationOf(identity, { url: 'https://a.example/orders/{{integer:id}}', description: 'Theirs.' })
    const [compared] = compareImport([tool], [operation]).tools
    expect(compared).toMatchObject({
      tool: { description: 'Mine.', url: 'https://a.example/orders/{{integer:id}}' },
      changed: ['url.path'],
      conflicts: [{ piece: 'description' }],
      breaking: [{ parameter: 'id', message: 'The parameter "id" has another type.' }],
    })
    const choices = new Map([[tool.key, new Map([['description', 'theirs' as const]])]])
    expect(compareImport([tool], [operation], choices).tools[0]?.tool.description).toBe('Theirs.')
  })
})
