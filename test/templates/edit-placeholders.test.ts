import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTemplate } from '../../src/templates/compile.ts'
import { editPlaceholders, type PlaceholderEdit } from '../../src/templates/edit-placeholders.ts'
import { PARAMETER_TYPES } from '../../src/templates/template.ts'
import { runsOf } from '../support/cases-of-run.ts'

const edit = (text: string, edits: Record<string, PlaceholderEdit>): string =>
  editPlaceholders(text, new Map(Object.entries(edits)))

describe('editing the placeholders of a parameter', () => {
  it.each<[string, PlaceholderEdit, string]>([
    ['/{{id}}', { type: 'integer' }, '/{{integer:id}}'],
    ['/{{ integer : id }}', { type: 'string' }, '/{{id}}'],
    ['?id={{id}}', { required: false }, '?id={{id?}}'],
    ['?id={{integer:id?}}', { required: true }, '?id={{integer:id}}'],
    ['?id={{integer:id=20}}', { type: 'number', required: false }, '?id={{number:id=20}}'],
    ['?id={{json:id? | repeat}}', { required: true }, '?id={{json:id | repeat}}'],
    ['?id={{json:id | comma=[1]}}', { type: 'string' }, '?id={{id=[1]}}'],
    ['/{{id}}', { type: 'string', serialization: 'segments' }, '/{{id | segments}}'],
    ['/{{integer:id}}', { type: 'string', serialization: 'segments' }, '/{{id | segments}}'],
    ['/{{id | segments}}', { type: 'string' }, '/{{id}}'],
    ['?q={{id}}{{json:id | comma}}', { required: false }, '?q={{id?}}{{json:id? | comma}}'],
    ['{{id}}{{id?}}', { required: false }, '{{id?}}{{id?}}'],
    ['\\{{id}} {{other}} {{id', { type: 'integer' }, '\\{{id}} {{other}} {{id'],
    ['{{colour:id}}', { type: 'integer' }, '{{colour:id}}'],
  ])('%s with %j is %s', (before, change, after) => {
    expect(edit(before, { id: change })).toBe(after)
  })

  it('changes what the template says of this parameter, and nothing else', () => {
    const piece = fc.oneof(
      fc.constantFrom('a ', '\\\\', '\\{{literal}} ', '}} ', 'é '),
      fc
        .record({
          type: fc.constantFrom('', 'integer:', 'number:', 'boolean:', 'json:', 'url:'),
          name: fc.constantFrom('id', 'other'),
          end: fc.constantFrom('', '?'),
        })
        .map(({ type, name, end }) => `{{${type}${name}${end}}} `),
    )
    const change = fc.record({ type: fc.constantFrom(...PARAMETER_TYPES), required: fc.boolean() })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), change, (pieces, { type, required }) => {
        const text = pieces.join('')
        const edited = edit(text, { id: { type, required } })
        const headers = [{ name: 'Content-Type', value: 'text/plain' }]
        const read = (body: string) => readTemplate({ method: 'POST', url: 'https://a.example/', headers, body })
        const before = read(text).parameters
        const after = read(edited).parameters
        expect(after.map(({ name }) => name)).toEqual(before.map(({ name }) => name))
        for (const parameter of after) if (parameter.name === 'id') expect(parameter).toMatchObject({ type, required })
        // Applied again, it changes nothing, and with another name it never does.
        expect(edit(edited, { id: { type, required } })).toBe(edited)
        expect(edit(text, { elsewhere: { type, required } })).toBe(text)
      }),
      { numRuns: runsOf(1_000) },
    )
  })
})
