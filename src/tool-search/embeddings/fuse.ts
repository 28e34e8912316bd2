/** How little the first places of an order count for more than those behind them (Cormack et al. 2009). */
const K = 60

/** One order out of several, each the best first, by reciprocal rank fusion: what is far ahead in any, or in all, is first. */
export const fuseOrders = (orders: readonly (readonly number[])[]): number[] => {
  const scores = new Map<number, number>()
  for (const order of orders) {
    for (const [at, place] of order.entries()) scores.set(place, (scores.get(place) ?? 0) + 1 / (K + at + 1))
  }
  return [...scores].sort(([, a], [, b]) => b - a).map(([place]) => place)
}
