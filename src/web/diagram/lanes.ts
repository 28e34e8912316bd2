import { LANES } from './measures.ts'

/** A row of the rack and the sockets it leads to, by their heights. */
export type Lead = { from: number; to: readonly number[] }

/** Up to here all orders are tried: 5,040 of them. */
const MAX_TRIED_IN_FULL = 7
/** How many crossings it makes that `a` has its lane further left than `b`. */
const costOf = (a: Lead, b: Lead): number => {
  const spanA = spanOf(a)
  const spanB = spanOf(b)
  // b leaves the rack across the lane of a; the branches of a cross the lane of b.
  const exits = isInside(spanA, b.from) ? 1 : 0
  const branches = a.to.filter(y => isInside(spanB, y)).length
  return exits + branches
}

type Span = readonly [from: number, to: number]
const spanOf = ({ from, to }: Lead): Span => [Math.min(from, ...to), Math.max(from, ...to)]
const isInside = ([from, to]: Span, y: number): boolean => y > from && y < to

type Costs = readonly (readonly number[])[]
const costBetween = (costs: Costs, left: number, right: number): number => costs[left]?.[right] ?? 0

const costOfOrder = (costs: Costs, order: readonly number[]): number =>
  order.reduce(
    (sum, left, index) =>
      sum + order.slice(index + 1).reduce((part, right) => part + costBetween(costs, left, right), 0),
    0,
  )

/** Every order, each made by putting the next one in at every place. */
const bestOfAll = (costs: Costs, first: readonly number[]): readonly number[] => {
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

/** Neighbours are swapped while that improves anything. */
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

const meanOf = ({ to }: Lead): number => to.reduce((sum, y) => sum + y, 0) / Math.max(1, to.length)

/** The x of each lead's lane, in the order of the leads, so that few cables cross. */
export const giveLanes = (leads: readonly Lead[]): readonly number[] => {
  const costs = leads.map(a => leads.map(b => costOf(a, b)))
  const means = leads.map(meanOf)
  const first = leads.map((_, index) => index).sort((a, b) => (means[a] ?? 0) - (means[b] ?? 0))
  const order = leads.length <= MAX_TRIED_IN_FULL ? bestOfAll(costs, first) : bestBySwapping(costs, first)
  const step = Math.min(LANES.step, (LANES.last - LANES.first) / Math.max(1, leads.length - 1))
  return leads.map((_, index) => LANES.first + order.indexOf(index) * step)
}
