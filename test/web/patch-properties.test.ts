import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_GATHERED_HEIGHT } from '../../src/web/diagram/detail.ts'
import { toPatchFigure } from '../../src/web/diagram/figure.ts'
import type { Patch } from '../../src/web/diagram/patch.ts'
import type { Shape } from '../../src/web/diagram/shapes.ts'
import { largePatch, smallPatch } from './any-patch.ts'
import { renderPart, wordsOfList } from './parts.ts'
import {
  boxAround,
  boxesOf,
  brokenSocketsOf,
  cablesOf,
  crosses,
  gapsOf,
  jacksOf,
  overlap,
  sheetsOf,
  tagsOf,
  textsOf,
} from './picture.ts'

const pictureOf = (patch: Patch): readonly Shape[] => toPatchFigure(patch).shapes

const holdsForAny = (property: (patch: Patch) => void): void => {
  fc.assert(fc.property(smallPatch, property), { numRuns: 150 })
  fc.assert(fc.property(largePatch, property), { numRuns: 30 })
}

/** What stands in dashed outlines, where nothing is yet. */
const GHOST_WORDS = new Set([
  'An API, or an MCP server',
  'where the answers come from',
  'Your tools',
  'each parameter is a socket',
  'Claude, Cursor, …',
  'whoever you let in',
])

/** A text as it begins, if it was cut; with one space where the list has one. */
const toStart = (text: string): string => text.replace(/…”?$/, '').replace(/\s+/g, ' ').trim()

const keyOf = (x: number, y: number): string => `${x} ${y}`

/** How often each point is the end of something, by the point and what ends there. */
const countEnds = (branches: ReturnType<typeof cablesOf>): ReadonlyMap<string, number> => {
  const ends = new Map<string, number>()
  for (const { source, segments } of branches) {
    const [x = 0, y = 0] = segments.at(-1)?.to ?? []
    const key = `${source} ${keyOf(x, y)}`
    ends.set(key, (ends.get(key) ?? 0) + 1)
  }
  return ends
}

/** What is drawn with all it has: at most 12 tools and 60 sockets. */
const isSmall = ({ groups }: Patch): boolean => {
  const tools = groups.flatMap(({ tools: of }) => of)
  return tools.length <= 12 && tools.flatMap(({ parameters }) => parameters).length <= 60
}

/** Twelve tools with all of their sixty sockets on one side, from as many sources as are drawn. */
const MAX_OPEN_HEIGHT = 3_000

const TOOLS_LEFT = 440
const TOOLS_RIGHT = 856

describe('any patch', () => {
  it('is drawn without two boxes that overlap', () => {
    holdsForAny(patch => {
      const picture = pictureOf(patch)
      const boxes = [...boxesOf(picture), ...tagsOf(picture)]
      boxes.forEach((box, index) => {
        for (const other of boxes.slice(index + 1)) expect(overlap(box, other)).toBe(false)
      })
      // What shows a stack lies behind the stack's own box, and touches no other.
      for (const sheet of sheetsOf(picture)) expect(boxes.filter(box => overlap(sheet, box))).toHaveLength(1)
    })
  })

  it('is drawn without a cable that crosses a box', () => {
    holdsForAny(patch => {
      const picture = pictureOf(patch)
      const boxes = [...boxesOf(picture), ...sheetsOf(picture), ...tagsOf(picture)]
      for (const { segments } of [...cablesOf(picture), ...gapsOf(picture)]) {
        for (const segment of segments) expect(boxes.filter(box => crosses(segment, box))).toEqual([])
      }
    })
  })

  it('is drawn with every socket of a tool reached by exactly one cable, of its source', () => {
    holdsForAny(patch => {
      const picture = pictureOf(patch)
      const sockets = jacksOf(picture).filter(({ x }) => x === TOOLS_LEFT || x === TOOLS_RIGHT)
      const ends = countEnds(cablesOf(picture))
      expect([...ends.keys()].sort()).toEqual(sockets.map(({ x, y, source }) => `${source} ${keyOf(x, y)}`).sort())
      expect(new Set(ends.values())).toEqual(new Set(sockets.length === 0 ? [] : [1]))
    })
  })

  it('is drawn without two cables in one line, where they would be seen as one', () => {
    holdsForAny(patch => {
      const across = cablesOf(pictureOf(patch)).flatMap(({ cable, segments }) =>
        segments.filter(({ from, to }) => from[1] === to[1]).map(segment => ({ cable, ...boxAround(segment) })),
      )
      for (const { cable, left, right, top } of across) {
        const others = across.filter(other => other.cable !== cable && other.top === top)
        expect(others.filter(other => other.left < right - 1 && left < other.right - 1)).toEqual([])
      }
    })
  })

  it('is drawn with a broken stub, and nothing else, before each socket whose global is gone', () => {
    holdsForAny(patch => {
      const picture = pictureOf(patch)
      const broken = brokenSocketsOf(picture)
      expect(gapsOf(picture).map(({ segments }) => segments.at(-1)?.to[1])).toEqual(broken.map(({ y }) => y))
      const ends = [...countEnds(cablesOf(picture)).keys()].map(key => key.split(' ').slice(1).join(' '))
      for (const { x, y } of broken) expect(ends).not.toContain(keyOf(x, y))
    })
  })

  it('is drawn with cables that begin at a jack of their source, or at a tag', () => {
    holdsForAny(patch => {
      const picture = pictureOf(patch)
      const jacks = new Set(jacksOf(picture).map(({ x, y, source }) => `${source} ${keyOf(x, y)}`))
      const tags = tagsOf(picture)
      for (const { source, segments } of cablesOf(picture)) {
        const [x = 0, y = 0] = segments[0]?.from ?? []
        const isAtTag = tags.some(tag => Math.abs(tag.right - x) < 0.1 && tag.top < y && y < tag.bottom)
        expect(isAtTag || jacks.has(`${source} ${keyOf(x, y)}`)).toBe(true)
      }
    })
  })

  it('is drawn the same each time', () => {
    holdsForAny(patch => {
      expect(toPatchFigure(structuredClone(patch))).toEqual(toPatchFigure(patch))
    })
  })

  it('is shown in a picture that holds all that is drawn, of bounded height and size', () => {
    holdsForAny(patch => {
      const figure = toPatchFigure(patch)
      const [left = 0, top = 0, width = 0, height = 0] = figure.viewBox.split(' ').map(Number)
      for (const box of [...boxesOf(figure.shapes), ...sheetsOf(figure.shapes), ...tagsOf(figure.shapes)]) {
        expect(box.left).toBeGreaterThanOrEqual(left)
        expect(box.right).toBeLessThanOrEqual(left + width)
        expect(box.top).toBeGreaterThanOrEqual(top)
        expect(box.bottom).toBeLessThanOrEqual(top + height)
      }
      expect(height).toBeLessThanOrEqual(isSmall(patch) ? MAX_OPEN_HEIGHT : MAX_GATHERED_HEIGHT + 4)
      const html = renderPart('patch', figure)
      expect(html.slice(0, html.indexOf('</svg>')).length).toBeLessThan(40_000)
    })
  })

  it('has all words of its picture in the list below', () => {
    holdsForAny(patch => {
      const figure = toPatchFigure(patch)
      const words = wordsOfList(renderPart('patch', figure))
      const drawn = figure.wiring === undefined ? [] : textsOf(figure.shapes)
      const missing = drawn.filter(text => !GHOST_WORDS.has(text) && !words.includes(toStart(text)))
      expect(missing).toEqual([])
    })
  })
})
