import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { compareRequests, DEPARTURES } from './golden.ts'
import { descriptionOf, document, isTool, readAll } from './reading.ts'

const differencesOf = async (path: string, operation: JsonObject) => {
  const spec = descriptionOf({ paths: { [path]: { post: { ...operation, responses: {} } } } }, '3.0.3')
  const { operations } = await readAll([document(spec)])
  return compareRequests(operations.filter(isTool), spec)
}

const form = (type: string) => ({
  requestBody: {
    required: true,
    content: {
      'application/x-www-form-urlencoded': {
        schema: { type: 'object', required: ['tag'], properties: { tag: { type, items: { type: 'string' } } } },
      },
    },
  },
})

const id = (path: string) => ({
  parameters: [{ name: 'id', in: path, required: true, schema: { type: 'string' } }],
})

describe('a request in which swagger-client departs from the standards', () => {
  it.each([
    ['an array in a form', '/a', form('array'), 0, /^\["tag","[^,]*"\],\["tag"/],
    ['an expression before a query', '/a/{id}?b=true', id('path'), 1, /^"\/a\/q%2Br"$/],
  ])('is on the list: %s', async (_, path, operation, rule, ours) => {
    const [difference, ...others] = await differencesOf(path, operation)
    expect(others).toEqual([])
    expect(difference).toMatchObject({ ours: expect.stringMatching(ours) })
    expect(difference && DEPARTURES[rule]?.applies(difference)).toBe(true)
  })

  it.each([
    ['a text in a form', '/a', form('string')],
    ['an expression in a path', '/a/{id}', id('path')],
  ])('is not on it otherwise: %s', async (_, path, operation) => {
    expect(await differencesOf(path, operation)).toEqual([])
  })
})
