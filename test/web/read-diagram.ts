import type { Shape } from '../../src/web/diagram/shapes.ts'

// Reads a diagram back from its SVG shapes, independently of the layout code.

export type Box = { left: number; top: number; right: number; bottom: number }
export type Segment = { from: readonly [number, number]; to: readonly [number, number] }
/** One path of a cable, from its start to one of its ends. */
export type Branch = { source: string; cable: number; segments: readonly Segment[] }
export type Socket = { x: number; y: number; source: string }

const flatten = (shapes: readonly Shape[]): readonly Shape[] =>
  shapes.flatMap(shape => [shape, ...flatten(shape.children ?? [])])

const isOfClass = (name: string) => (shape: Shape) => String(shape.attributes.class ?? '').split(' ')[0] === name

const toBox = ({ attributes: { x, y, width, height } }: Shape): Box => ({
  left: Number(x),
  top: Number(y),
  right: Number(x) + Number(width),
  bottom: Number(y) + Number(height),
})

export const boxesOf = (shapes: readonly Shape[]): readonly Box[] =>
  shapes.flatMap(({ children = [] }) => children.filter(isOfClass('box')).map(toBox))

/** Returns the edges behind stacks. They are top-level shapes, whereas other boxes are inside a link or group. */
export const stackEdgesOf = (shapes: readonly Shape[]): readonly Box[] => shapes.filter(isOfClass('box')).map(toBox)

export const tagsOf = (shapes: readonly Shape[]): readonly Box[] => flatten(shapes).filter(isOfClass('tag')).map(toBox)

export const textsOf = (shapes: readonly Shape[]): readonly string[] =>
  flatten(shapes).flatMap(({ tag, text }) => (tag === 'text' && text !== undefined ? text : []))

/** Parses a path of M, H, V and Q commands. A rounded corner becomes the two sides that meet in it. */
const segmentsOf = (path: string): readonly Segment[] => {
  const segments: Segment[] = []
  let at: readonly [number, number] = [0, 0]
  const goTo = (to: readonly [number, number]) => {
    if (to[0] !== at[0] || to[1] !== at[1]) segments.push({ from: at, to })
    at = to
  }
  for (const [, command = '', rest = ''] of path.matchAll(/([MHVQ])([^MHVQ]*)/g)) {
    const [a = 0, b = 0, c = 0, d = 0] = rest.trim().split(' ').map(Number)
    if (command === 'M') at = [a, b]
    if (command === 'H') goTo([a, at[1]])
    if (command === 'V') goTo([at[0], a])
    if (command === 'Q') {
      goTo([a, b])
      goTo([c, d])
    }
  }
  return segments
}

const branchesIn = (shapes: readonly Shape[], name: string): readonly Branch[] =>
  flatten(shapes)
    .filter(isOfClass(name))
    .flatMap(({ attributes }, cable) =>
      String(attributes.d)
        .split(/(?=M)/)
        .map(path => ({ source: String(attributes['data-source'] ?? ''), cable, segments: segmentsOf(path) })),
    )

export const cablesOf = (shapes: readonly Shape[]): readonly Branch[] => branchesIn(shapes, 'cable')
export const gapsOf = (shapes: readonly Shape[]): readonly Branch[] => branchesIn(shapes, 'gap')

export const jacksOf = (shapes: readonly Shape[]): readonly Socket[] =>
  flatten(shapes)
    .filter(isOfClass('jack'))
    .map(({ attributes }) => {
      const [x = 0, y = 0] =
        String(attributes.transform)
          .match(/[\d.]+/g)
          ?.map(Number) ?? []
      return { x, y, source: String(attributes['data-source']) }
    })

/** Returns the sockets without a value, such as those whose global does not exist. */
export const brokenSocketsOf = (shapes: readonly Shape[]): readonly Socket[] =>
  flatten(shapes)
    .filter(isOfClass('hole'))
    .filter(({ attributes }) => attributes['data-state'] === 'missing')
    .map(({ attributes }) => ({ x: Number(attributes.cx), y: Number(attributes.cy), source: 'missing' }))

/** Returns whether two boxes overlap. Boxes that only share an edge do not. */
export const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

export const boxAround = ({ from, to }: Segment): Box => ({
  left: Math.min(from[0], to[0]),
  top: Math.min(from[1], to[1]),
  right: Math.max(from[0], to[0]),
  bottom: Math.max(from[1], to[1]),
})

/** Returns whether a line crosses a box. A line that ends at the edge of the box does not. */
export const crosses = (segment: Segment, { left, top, right, bottom }: Box): boolean => {
  const line = boxAround(segment)
  return line.left < right - 1 && line.right > left + 1 && line.top < bottom - 1 && line.bottom > top + 1
}
