import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parsePath, renderPath } from '../../../src/lib/json/path.ts'

const names = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('a', '$', '.', '*', '[', ']', '"', "'", '\\', ' ', '\n', '1'), maxLength: 4 }),
)
const plainStep = fc.oneof(
  names.map(name => ({ kind: 'member' as const, name })),
  fc.integer({ min: -20, max: 999 }).map(index => ({ kind: 'item' as const, index })),
  fc.constant({ kind: 'items' as const }),
  fc.constant({ kind: 'any' as const }),
)
/** One step, or `**` and the step that must follow it. */
const steps = fc.oneof(
  plainStep.map(step => [step]),
  plainStep.map(step => [{ kind: 'deep' as const }, step]),
)

it('parses a rendered path as the same path', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 6 }), parts => {
      const path = parts.flat()
      expect(parsePath(renderPath(path))).toEqual({ ok: true, value: path })
    }),
  )
})

it('parses any text, or reports the column of the error', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '.', '[', ']', '*', '"', "'", '\\', '$', ' ', '1', '-') }),
      text => {
        const parsed = parsePath(text)
        expect(parsed.ok || (parsed.error.column >= 1 && parsed.error.column <= text.length + 1)).toBe(true)
      },
    ),
  )
})

it.each([
  ['a.[].b', 'a[].b'],
  ['a.[*]', 'a[*]'],
  ['**.["b"]', '**["b"]'],
])('parses %s like %s, as older versions did', (text, same) => {
  expect(parsePath(text)).toMatchObject({ ok: true })
  expect(parsePath(text)).toEqual(parsePath(same))
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
  ['**.id', [{ kind: 'deep' }, { kind: 'member', name: 'id' }]],
  ['["$"]', [{ kind: 'member', name: '$' }]],
])('parses %s: a leading $ is the whole document, and $ in a name belongs to it', (text, value) => {
  expect(parsePath(text)).toEqual({ ok: true, value })
})
