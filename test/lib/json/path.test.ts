import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parsePath, renderPath } from '../../../src/lib/json/path.ts'

const names = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('a', '$', '.', '*', '[', ']', '"', "'", '\\', ' ', '\n', '1'), maxLength: 4 }),
)
const step = fc.oneof(
  names.map(name => ({ kind: 'member' as const, name })),
  fc.integer({ min: -20, max: 999 }).map(index => ({ kind: 'item' as const, index })),
  fc.constant({ kind: 'items' as const }),
  fc.constant({ kind: 'any' as const }),
)

it('a path that was written is read as the one it was', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), path => {
      expect(parsePath(renderPath(path))).toEqual({ ok: true, value: path })
    }),
  )
})

it('whatever is given for a path is read or refused', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '.', '[', ']', '*', '"', "'", '\\', '$', ' ', '1', '-') }),
      text => {
        const parsed = parsePath(text)
        expect(parsed.ok || parsed.error.includes('is no path')).toBe(true)
      },
    ),
  )
})

it.each([
  ['$ref', [{ kind: 'member', name: '$ref' }]],
  ['$', []],
  ['$.a', [{ kind: 'member', name: 'a' }]],
  ['$[0]', [{ kind: 'item', index: 0 }]],
  [
    '$schema.$id',
    [
      { kind: 'member', name: '$schema' },
      { kind: 'member', name: '$id' },
    ],
  ],
  ['["$"]', [{ kind: 'member', name: '$' }]],
])('%s means the whole by its sign only where it stands for itself', (text, value) => {
  expect(parsePath(text)).toEqual({ ok: true, value })
})
