import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonNode, toJsonTree } from '../../../src/web/tool-editor/json-tree.ts'
import { runsOf } from '../../support/cases-of-run.ts'

const rootOf = (json: string): JsonNode => {
  const { root } = toJsonTree(json)
  if (root === undefined) throw new Error('the tree is empty')
  return root
}
/** Returns the value that a tree shows. */
const shownValueOf = ({ kind, text, children }: JsonNode): unknown => {
  if (kind === 'scalar') return JSON.parse(text)
  if (kind === 'array') return children.map(shownValueOf)
  return Object.fromEntries(children.map(child => [JSON.parse(child.key ?? ''), shownValueOf(child)]))
}
const listNodes = (node: JsonNode): JsonNode[] => [node, ...node.children.flatMap(listNodes)]
const depthOf = ({ children }: JsonNode): number => 1 + Math.max(0, ...children.map(depthOf))
const countValues = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce((sum: number, one) => sum + countValues(one), 0)
    : 1

describe('the tree of a JSON text', () => {
  it('shows every value of a short text, whatever its spaces', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const json = JSON.stringify(value, undefined, space)
        const tree = toJsonTree(json)
        expect(tree.root && shownValueOf(tree.root)).toEqual(JSON.parse(json))
        expect(tree.shown).toBe(tree.total)
        expect(tree.total).toBe(countValues(value))
      }),
      { numRuns: runsOf(1_000) },
    )
  })

  it('keeps the spelling of numbers, strings and repeated keys', () => {
    const { children } = rootOf('{"id": 12345678901234567890, "e": 1.50e+2, "t": "\\u00e9\\"", "t": null}')
    expect(children.map(({ key, text }) => [key, text])).toEqual([
      ['"id"', '12345678901234567890'],
      ['"e"', '1.50e+2'],
      ['"t"', '"\\u00e9\\""'],
      ['"t"', 'null'],
    ])
  })

  it('is limited in values, and says how many there are, also in each array', () => {
    const tree = toJsonTree(JSON.stringify({ all: Array.from({ length: 50_000 }, (_, id) => ({ id })), last: true }))
    expect(tree).toMatchObject({ shown: 1_000, total: 100_003 })
    const [all] = tree.root?.children ?? []
    expect(all?.count).toBe(50_000)
    expect(tree.root && listNodes(tree.root)).toHaveLength(1_000)
    expect(tree.root?.count).toBe(2)
  })

  it('is limited in depth, also if the text is nested as deeply as it is long', () => {
    const json = `${'[1,'.repeat(200_000)}2${']'.repeat(200_000)}`
    const tree = toJsonTree(json)
    expect(tree.root && depthOf(tree.root)).toBeLessThan(30)
    expect(tree.total).toBe(400_001)
    const deepest = tree.root && listNodes(tree.root).at(-1)
    expect(deepest).toMatchObject({ count: 2, children: [] })
  })

  it('is limited in characters, in total and for each value', () => {
    const long = 'x'.repeat(5_000)
    const tree = toJsonTree(JSON.stringify(Array.from({ length: 900 }, () => long)))
    const texts = tree.root?.children.map(({ text }) => text) ?? []
    expect(texts[0]).toMatch(/^"x{999}… \(5002 characters\)$/)
    expect(texts.join('').length).toBeLessThan(110_000)
    expect(tree.total).toBe(901)
  })

  it('closes the objects of a long text', () => {
    const { children } = rootOf(JSON.stringify(Array.from({ length: 300 }, (_, id) => ({ id }))))
    expect(children[0]?.isOpen).toBe(true)
    expect(children.at(-1)?.isOpen).toBe(false)
  })
})
