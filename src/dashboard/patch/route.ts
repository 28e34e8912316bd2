import { type Point, RADIUS } from './measures.ts'

/** From a jack across to a lane, along it, and across to a socket. */
export const routeBetween = ([fromX, fromY]: Point, lane: number, [toX, toY]: Point): readonly Point[] =>
  fromY === toY
    ? [
        [fromX, fromY],
        [toX, toY],
      ]
    : [
        [fromX, fromY],
        [lane, fromY],
        [lane, toY],
        [toX, toY],
      ]

const number = (value: number): string => String(Math.round(value * 10) / 10)
const point = (x: number, y: number): string => `${number(x)} ${number(y)}`

/** A corner at b, rounded: from `radius` before it to as far behind it. */
const corner = ([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point, radius: number): string => {
  const before = point(bx + Math.sign(ax - bx) * radius, by + Math.sign(ay - by) * radius)
  const behind = point(bx + Math.sign(cx - bx) * radius, by + Math.sign(cy - by) * radius)
  return `L${before}Q${point(bx, by)} ${behind}`
}

/** The path of a route, its corners rounded by 11 or half the step between its ends. */
export const pathOf = (route: readonly Point[]): string => {
  const [from, second, third, last] = route
  if (from === undefined || second === undefined) return ''
  if (third === undefined || last === undefined) return `M${point(...from)}H${number(second[0])}`
  const radius = Math.min(RADIUS, Math.abs(third[1] - second[1]) / 2)
  return `M${point(...from)}${corner(from, second, third, radius)}${corner(second, third, last, radius)}H${number(last[0])}`
}
