/** Smoothing constant of reciprocal rank fusion (Cormack et al. 2009). */
const K = 60

/** Merges several rankings, each best first, by reciprocal rank fusion. */
export const fuseOrders = (orders: readonly (readonly number[])[]): number[] => {
  const scores = new Map<number, number>()
  for (const order of orders) {
    for (const [at, place] of order.entries()) scores.set(place, (scores.get(place) ?? 0) + 1 / (K + at + 1))
  }
  return [...scores].sort(([, a], [, b]) => b - a).map(([place]) => place)
}
