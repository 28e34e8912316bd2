import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parsePath, renderPath } from '../../src/context/answers/path.ts'

const step = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }).map(name => ({ kind: 'member' as const, name })),
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
