import { type Point, RADIUS } from './dimensions.ts'

/** Returns the points of a route from a jack to a lane, along the lane, and from there to a socket. */
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

/** Returns the SVG path of a route. The corner radius is at most half the step between the route's ends. */
export const pathOf = (route: readonly Point[]): string => {
  const [from, second, third, last] = route
  if (from === undefined || second === undefined) return ''
  if (third === undefined || last === undefined) return `M${point(...from)}H${number(second[0])}`
  const [lane, top] = second
  const [, bottom] = third
  const radius = Math.min(RADIUS, Math.abs(bottom - top) / 2)
  const along = Math.sign(bottom - top) * radius
  const away = Math.sign(from[0] - lane) * radius
  const out = `M${point(...from)}H${number(lane + away)}Q${point(lane, top)} ${point(lane, top + along)}`
  const back = `V${number(bottom - along)}Q${point(lane, bottom)} ${point(lane - away, bottom)}H${number(last[0])}`
  return out + back
}
