import { describe, expect, it } from 'vitest'
import { findBreakingChanges } from '../../../src/imports/merge/breaking-changes.ts'
import type { JsonObject } from '../../../src/lib/kernel/json.ts'
import type { ToolDefinition } from '../../../src/tools/tool.ts'
import { toolOf } from './tools.ts'

const withUrl = (query: string, parameters: ToolDefinition['parameters'] = {}) =>
  toolOf({ url: `https://a.example/x?${query}`, parameters })

const withSchema = (schema: JsonObject) => withUrl('a={{json:a}}', { a: { schema } })

const boundTo = (key: string, secret: boolean): ToolDefinition['parameters'] => ({
  a: { binding: { source: 'server', key, secret } },
})

const messages = (before: ToolDefinition, now: ToolDefinition): readonly string[] =>
  findBreakingChanges(before, now).map(({ message }) => message)

describe('a change that can break calls', () => {
  it.each<[ToolDefinition, ToolDefinition, string]>([
    [withUrl('a={{a?}}'), withUrl(''), 'The parameter "a" was removed.'],
    [withUrl('a={{a?}}'), withUrl('a={{a}}'), 'The parameter "a" is required now.'],
    [withUrl('a={{a}}', { a: { default: 'x' } }), withUrl('a={{a}}'), 'The parameter "a" is required now.'],
    [withUrl(''), withUrl('a={{a}}'), 'The new parameter "a" is required.'],
    [withUrl(''), withUrl('a={{a}}', boundTo('key', true)), 'It needs the secret "key" now.'],
    [withUrl('a={{a}}'), withUrl('a={{integer:a}}'), 'The parameter "a" has another type.'],
    [withUrl('a={{number:a}}'), withUrl('a={{integer:a}}'), 'The parameter "a" has another type.'],
    [
      withUrl('a={{a}}', { a: { enum: ['x', 'y'] } }),
      withUrl('a={{a}}', { a: { enum: ['x', 'z'] } }),
      'The parameter "a" no longer accepts "y".',
    ],
    [withUrl('a={{a}}'), withUrl('a={{a}}', { a: { enum: ['x'] } }), 'The parameter "a" accepts only some values now.'],
    [
      withUrl('a={{integer:a}}', { a: { maximum: 10 } }),
      withUrl('a={{integer:a}}', { a: { maximum: 9 } }),
      'The parameter "a" has a narrower range.',
    ],
    [
      withUrl('a={{a}}', { a: { pattern: '^x' } }),
      withUrl('a={{a}}', { a: { pattern: '^y' } }),
      'The parameter "a" has another pattern.',
    ],
    [
      withSchema({ type: 'array', items: { type: 'string' } }),
      withSchema({ type: 'array', items: { type: 'integer' } }),
      'The parameter "a" in its items, has another type.',
    ],
    [
      withSchema({ type: 'object', properties: { b: { minLength: 1 } } }),
      withSchema({ type: 'object', properties: { b: { minLength: 2 } }, required: ['b'] }),
      'The parameter "a" now requires its member "b".',
    ],
    [withUrl(''), { ...withUrl(''), name: 'other' }, 'The tool is now named "other".'],
  ])('is named', (before, now, message) => {
    expect(messages(before, now)).toContain(message)
  })
})

describe('a change that breaks no call', () => {
  it.each<[string, ToolDefinition, ToolDefinition]>([
    ['another text', toolOf(), toolOf({ description: 'x', title: 'y' })],
    ['an optional parameter', withUrl(''), withUrl('a={{a?}}')],
    ['one that is optional now', withUrl('a={{a}}'), withUrl('a={{a?}}')],
    ['a wider type', withUrl('a={{integer:a}}'), withUrl('a={{number:a}}')],
    ['any type', withUrl('a={{integer:a}}'), withUrl('a={{json:a}}')],
    [
      'a wider range',
      withUrl('a={{integer:a}}', { a: { minimum: 2 } }),
      withUrl('a={{integer:a}}', { a: { minimum: 1 } }),
    ],
    ['more values', withUrl('a={{a}}', { a: { enum: ['x'] } }), withUrl('a={{a}}', { a: { enum: ['x', 'y'] } })],
    ['an optional secret', withUrl(''), withUrl('a={{a?}}', boundTo('key', true))],
    [
      'a secret that was needed before',
      withUrl('a={{a}}', boundTo('old', true)),
      withUrl('a={{a}}', boundTo('key', true)),
    ],
    ['a global that the source has a value for', withUrl(''), withUrl('a={{a}}', boundTo('region', false))],
    ['another place', withUrl('a={{a}}'), toolOf({ url: 'https://a.example/{{a}}', parameters: {} })],
  ])('is not named: %s', (_, before, now) => {
    expect(messages(before, now)).toEqual([])
  })

  it('is a new global for which the source has no value', () => {
    const now = withUrl('a={{a}}', boundTo('region', false))
    const changes = findBreakingChanges(withUrl(''), now, () => false)
    expect(changes).toEqual([{ parameter: 'a', message: 'It needs the global "region" now.' }])
  })
})
