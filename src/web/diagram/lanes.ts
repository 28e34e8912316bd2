import { LANES, meanOf } from './dimensions.ts'

/** The y of a rack row, and of the sockets it is connected to. */
export type Connection = { from: number; to: readonly number[] }

/** Maximum number of lanes for which every order is tried (7! = 5,040 orders). */
const MAX_EXHAUSTIVE = 7
/** Returns the number of crossings if the lane of `a` is to the left of the lane of `b`. */
const costOf = (a: Connection, b: Connection): number => {
  const spanA = spanOf(a)
  const spanB = spanOf(b)
  // The cable from the rack to the lane of `b` may cross the lane of `a`. The branches of `a` may cross the lane of
  // `b`.
  const exits = isInside(spanA, b.from) ? 1 : 0
  const branches = a.to.filter(y => isInside(spanB, y)).length
  return exits + branches
}

type Span = readonly [from: number, to: number]
const spanOf = ({ from, to }: Connection): Span => [Math.min(from, ...to), Math.max(from, ...to)]
const isInside = ([from, to]: Span, y: number): boolean => y > from && y < to

type Costs = readonly (readonly number[])[]
const costBetween = (costs: Costs, left: number, right: number): number => costs[left]?.[right] ?? 0

const costOfOrder = (costs: Costs, order: readonly number[]): number =>
  order.reduce(
    (sum, left, index) =>
      sum + order.slice(index + 1).reduce((part, right) => part + costBetween(costs, left, right), 0),
    0,
  )

/** Finds the order with the fewest crossings by depth-first search with pruning. */
const bestByTryingAll = (costs: Costs, first: readonly number[]): readonly number[] => {
  let best = { order: first, cost: costOfOrder(costs, first) }
  const extend = (order: readonly number[], rest: readonly number[], cost: number): void => {
    if (cost >= best.cost) return
    if (rest.length === 0) {
      best = { order, cost }
      return
    }
    for (const next of rest) {
      const added = order.reduce((sum, left) => sum + costBetween(costs, left, next), 0)
      extend(
        [...order, next],
        rest.filter(other => other !== next),
        cost + added,
      )
    }
  }
  extend([], first, 0)
  return best.order
}

/** Swaps neighbors until no swap improves the order. */
const bestBySwapping = (costs: Costs, first: readonly number[]): readonly number[] => {
  const order = [...first]
  for (let hasImproved = true; hasImproved; ) {
    hasImproved = false
    for (let index = 0; index + 1 < order.length; index++) {
      const [left, right] = [order[index] ?? 0, order[index + 1] ?? 0]
      if (costBetween(costs, right, left) >= costBetween(costs, left, right)) continue
      order.splice(index, 2, right, left)
      hasImproved = true
    }
  }
  return order
}

/** Returns the x of each connection's lane. Lanes are chosen so that few cables cross. */
export const assignLanes = (connections: readonly Connection[]): readonly number[] => {
  const costs = connections.map(a => connections.map(b => costOf(a, b)))
  const means = connections.map(({ to }) => meanOf(to))
  const first = connections.map((_, index) => index).sort((a, b) => (means[a] ?? 0) - (means[b] ?? 0))
  const order = connections.length <= MAX_EXHAUSTIVE ? bestByTryingAll(costs, first) : bestBySwapping(costs, first)
  const step = Math.min(LANES.step, (LANES.last - LANES.first) / Math.max(1, connections.length - 1))
  return connections.map((_, index) => LANES.first + order.indexOf(index) * step)
}
