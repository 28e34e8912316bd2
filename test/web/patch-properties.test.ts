import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_STACKED_HEIGHT } from '../../src/web/diagram/detail.ts'
import { toPatchFigure } from '../../src/web/diagram/figure.ts'
import type { Patch } from '../../src/web/diagram/patch.ts'
import type { Shape } from '../../src/web/diagram/shapes.ts'
import { runsOf } from '../support/cases-of-run.ts'
import { largePatch, smallPatch } from './patch-arbitraries.ts'
import {
  boxAround,
  boxesOf,
  brokenSocketsOf,
  cablesOf,
  crosses,
  gapsOf,
  jacksOf,
  overlap,
  stackEdgesOf,
  tagsOf,
  textsOf,
} from './read-diagram.ts'
import { renderPart, wiringText } from './render-part.ts'

const shapesOf = (patch: Patch): readonly Shape[] => toPatchFigure(patch).shapes

const holdsForAny = (property: (patch: Patch) => void): void => {
  fc.assert(fc.property(smallPatch, property), { numRuns: runsOf(150) })
  fc.assert(fc.property(largePatch, property), { numRuns: runsOf(30) })
}

/** Texts in the dashed outlines of missing parts. */
const GHOST_TEXTS = new Set([
  'An API or MCP server',
  'what your tools call',
  'Your tools',
  'each parameter is a socket',
  'Claude, Cursor, …',
  'the clients you allow',
])

/** Removes the ellipsis of a truncated text, and collapses white space as the list does. */
const uncut = (text: string): string => text.replace(/…”?$/, '').replace(/\s+/g, ' ').trim()

const keyOf = (x: number, y: number): string => `${x} ${y}`

/** Counts the cables that end at each point, by source and point. */
const countEnds = (branches: ReturnType<typeof cablesOf>): ReadonlyMap<string, number> => {
  const ends = new Map<string, number>()
  for (const { source, segments } of branches) {
    const [x = 0, y = 0] = segments.at(-1)?.to ?? []
    const key = `${source} ${keyOf(x, y)}`
    ends.set(key, (ends.get(key) ?? 0) + 1)
  }
  return ends
}

/** Small enough to be drawn without collapsing tools into stacks: at most 12 tools and 60 sockets. */
const isSmall = ({ groups }: Patch): boolean => {
  const tools = groups.flatMap(({ tools: own }) => own)
  return tools.length <= 12 && tools.flatMap(({ parameters }) => parameters).length <= 60
}

/**
 * Maximum height of a diagram without stacks: twelve tools with all sixty sockets on one side, from the largest number
 * of sources.
 */
const MAX_OPEN_HEIGHT = 3_000

const TOOLS_LEFT = 440
const TOOLS_RIGHT = 856

describe('the diagram of any patch', () => {
  it('has no overlapping boxes', () => {
    holdsForAny(patch => {
      const shapes = shapesOf(patch)
      const boxes = [...boxesOf(shapes), ...tagsOf(shapes)]
      boxes.forEach((box, index) => {
        for (const other of boxes.slice(index + 1)) expect(overlap(box, other)).toBe(false)
      })
      // The edges of a stack lie behind its own box, and touch no other box.
      for (const edge of stackEdgesOf(shapes)) expect(boxes.filter(box => overlap(edge, box))).toHaveLength(1)
    })
  })

  it('has no cable that crosses a box', () => {
    holdsForAny(patch => {
      const shapes = shapesOf(patch)
      const boxes = [...boxesOf(shapes), ...stackEdgesOf(shapes), ...tagsOf(shapes)]
      for (const { segments } of [...cablesOf(shapes), ...gapsOf(shapes)]) {
        for (const segment of segments) expect(boxes.filter(box => crosses(segment, box))).toEqual([])
      }
    })
  })

  it('connects every socket of a tool to exactly one cable of its source', () => {
    holdsForAny(patch => {
      const shapes = shapesOf(patch)
      const sockets = jacksOf(shapes).filter(({ x }) => x === TOOLS_LEFT || x === TOOLS_RIGHT)
      const ends = countEnds(cablesOf(shapes))
      expect([...ends.keys()].sort()).toEqual(sockets.map(({ x, y, source }) => `${source} ${keyOf(x, y)}`).sort())
      expect(new Set(ends.values())).toEqual(new Set(sockets.length === 0 ? [] : [1]))
    })
  })

  it('never draws two cables on top of each other', () => {
    holdsForAny(patch => {
      const across = cablesOf(shapesOf(patch)).flatMap(({ cable, segments }) =>
        segments.filter(({ from, to }) => from[1] === to[1]).map(segment => ({ cable, ...boxAround(segment) })),
      )
      for (const { cable, left, right, top } of across) {
        const others = across.filter(other => other.cable !== cable && other.top === top)
        expect(others.filter(other => other.left < right - 1 && left < other.right - 1)).toEqual([])
      }
    })
  })

  it('draws only a broken stub at each socket whose global is missing', () => {
    holdsForAny(patch => {
      const shapes = shapesOf(patch)
      const broken = brokenSocketsOf(shapes)
      expect(gapsOf(shapes).map(({ segments }) => segments.at(-1)?.to[1])).toEqual(broken.map(({ y }) => y))
      const ends = [...countEnds(cablesOf(shapes)).keys()].map(key => key.split(' ').slice(1).join(' '))
      for (const { x, y } of broken) expect(ends).not.toContain(keyOf(x, y))
    })
  })

  it('starts every cable at a jack of its source or at a tag', () => {
    holdsForAny(patch => {
      const shapes = shapesOf(patch)
      const jacks = new Set(jacksOf(shapes).map(({ x, y, source }) => `${source} ${keyOf(x, y)}`))
      const tags = tagsOf(shapes)
      for (const { source, segments } of cablesOf(shapes)) {
        const [x = 0, y = 0] = segments[0]?.from ?? []
        const isAtTag = tags.some(tag => Math.abs(tag.right - x) < 0.1 && tag.top < y && y < tag.bottom)
        expect(isAtTag || jacks.has(`${source} ${keyOf(x, y)}`)).toBe(true)
      }
    })
  })

  it('is the same each time', () => {
    holdsForAny(patch => {
      expect(toPatchFigure(structuredClone(patch))).toEqual(toPatchFigure(patch))
    })
  })

  it('fits into its view box, which has a bounded height, and into a bounded number of bytes', () => {
    holdsForAny(patch => {
      const figure = toPatchFigure(patch)
      const [left = 0, top = 0, width = 0, height = 0] = figure.viewBox.split(' ').map(Number)
      for (const box of [...boxesOf(figure.shapes), ...stackEdgesOf(figure.shapes), ...tagsOf(figure.shapes)]) {
        expect(box.left).toBeGreaterThanOrEqual(left)
        expect(box.right).toBeLessThanOrEqual(left + width)
        expect(box.top).toBeGreaterThanOrEqual(top)
        expect(box.bottom).toBeLessThanOrEqual(top + height)
      }
      expect(height).toBeLessThanOrEqual(isSmall(patch) ? MAX_OPEN_HEIGHT : MAX_STACKED_HEIGHT + 4)
      const html = renderPart('patch', figure)
      expect(html.slice(0, html.indexOf('</svg>')).length).toBeLessThan(40_000)
    })
  })

  it('repeats all its texts in the list below', () => {
    holdsForAny(patch => {
      const figure = toPatchFigure(patch)
      const list = wiringText(renderPart('patch', figure))
      const drawn = figure.wiring === undefined ? [] : textsOf(figure.shapes)
      const missing = drawn.filter(text => !GHOST_TEXTS.has(text) && !list.includes(uncut(text)))
      expect(missing).toEqual([])
    })
  })
})
