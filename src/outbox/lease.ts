/** Matches rows that no process has. A lease that ends too late was made before the clock was set back. */
export const isFree = (now: Date, leaseMs: number) => ({
  OR: [
    { leasedUntil: null },
    { leasedUntil: { lte: now } },
    { leasedUntil: { gt: new Date(now.getTime() + 2 * leaseMs) } },
  ],
})
