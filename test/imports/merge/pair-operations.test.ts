import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPairing, type OperationIdentity } from '../../../src/imports/merge/pair-operations.ts'
import { runsOf } from '../../support/cases-of-run.ts'

type Identity = { operationId?: string; method?: string; path: string }

const operationOf = ({ operationId, method = 'GET', path }: Identity): OperationIdentity & { key: string } => ({
  key: `${method} ${path}`,
  operationId,
  method,
  path,
})

/** Pairs operations that are read in these batches. Returns the keys of the pairs, of new operations and of gone tools. */
const pairAll = (tools: readonly Identity[], batches: readonly (readonly Identity[])[]) => {
  const pairing = createPairing<ReturnType<typeof operationOf>, ReturnType<typeof operationOf>>(tools.map(operationOf))
  const first = batches.flatMap(batch => pairing.add(batch.map(operationOf)))
  const { pairs: rest, gone } = pairing.finish()
  const pairs = [...first, ...rest]
  return {
    pairs: pairs.flatMap(({ tool, operation }) => (tool === undefined ? [] : [[tool.key, operation.key]])),
    added: pairs.flatMap(({ tool, operation }) => (tool === undefined ? [operation.key] : [])),
    gone: gone.map(({ key }) => key),
  }
}

describe('pairing operations with the tools that were imported before', () => {
  it('goes by the operation id, else by method and path, whatever the parameters are called', () => {
    const tools = [
      { operationId: 'getOrder', path: '/orders/{id}' },
      { path: '/users/{id}' },
      { path: '/users/{id}', method: 'DELETE' },
      { operationId: 'gone', path: '/gone' },
    ]
    const operations = [
      { path: '/users/{user_id}' },
      { operationId: 'getOrder', path: '/v2/orders/{id}' },
      { operationId: 'deleteUser', path: '/users/{id}', method: 'DELETE' },
      { operationId: 'new', path: '/new' },
    ]
    expect(pairAll(tools, [operations])).toEqual({
      pairs: [
        ['GET /users/{id}', 'GET /users/{user_id}'],
        ['GET /orders/{id}', 'GET /v2/orders/{id}'],
        ['DELETE /users/{id}', 'DELETE /users/{id}'],
      ],
      added: ['GET /new'],
      gone: ['GET /gone'],
    })
  })

  it('goes by the id even if another operation with the same path was read before', () => {
    const tools = [{ operationId: 'getOrder', path: '/orders/{id}' }]
    const renamed = { operationId: 'getOldOrder', path: '/orders/{id}' }
    const moved = { operationId: 'getOrder', path: '/v2/orders/{id}' }
    expect(pairAll(tools, [[renamed], [moved]])).toEqual({
      pairs: [['GET /orders/{id}', 'GET /v2/orders/{id}']],
      added: ['GET /orders/{id}'],
      gone: [],
    })
    expect(pairAll(tools, [[renamed]])).toMatchObject({ pairs: [['GET /orders/{id}', 'GET /orders/{id}']], gone: [] })
  })

  it('pairs each tool and each operation once, the same in all batches', () => {
    const identity = fc.record(
      { operationId: fc.constantFrom('a', 'b', 'c'), path: fc.constantFrom('/x', '/y/{id}', '/y/{key}', '/z') },
      { requiredKeys: ['path'] },
    )
    const identities = fc.array(identity, { maxLength: 6 })
    fc.assert(
      fc.property(identities, identities, fc.nat(6), (tools, operations, at) => {
        const whole = pairAll(tools, [operations])
        expect(pairAll(tools, [operations.slice(0, at), operations.slice(at)])).toEqual(whole)
        expect(whole.pairs.length + whole.added.length).toBe(operations.length)
        expect(whole.pairs.length + whole.gone.length).toBe(tools.length)
      }),
      { numRuns: runsOf(500) },
    )
  })
})
