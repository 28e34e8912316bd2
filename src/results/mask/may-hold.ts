/** Size of the table. The last two characters of a window are hashed to a place in it; collisions are allowed. */
const PLACES = 4_096
const placeOf = (before: number, last: number): number => ((before << 5) ^ last) & (PLACES - 1)

/** Maximum comparisons, plus those by length. In a text of many near misses a plain search is faster. */
const FREE_COMPARISONS = 1_000
const CHARACTERS_PER_COMPARISON = 32

/**
 * Creates a test whether a text may contain one of the needles; false is certain. It reads only a few characters,
 * however many needles there are: the last two of a window as long as the shortest needle tell how far it can move
 * (Wu and Manber, "A fast algorithm for multi-pattern searching").
 */
export const createMayHold = (needles: readonly string[]): ((text: string) => boolean) => {
  const window = Math.min(...needles.map(({ length }) => length))
  if (!Number.isFinite(window)) return () => false
  if (window < 2) return () => true
  const shifts = new Uint8Array(PLACES).fill(Math.min(window - 1, 0xff))
  const ending = new Map<number, string[]>()
  for (const needle of needles) {
    for (let at = 1; at < window; at++) {
      const place = placeOf(needle.charCodeAt(at - 1), needle.charCodeAt(at))
      shifts[place] = Math.min(shifts[place] ?? 0, window - 1 - at)
    }
    const last = placeOf(needle.charCodeAt(window - 2), needle.charCodeAt(window - 1))
    ending.set(last, [...(ending.get(last) ?? []), needle])
  }
  return text => {
    let comparisons = FREE_COMPARISONS + text.length / CHARACTERS_PER_COMPARISON
    for (let at = window - 1; at < text.length; ) {
      const place = placeOf(text.charCodeAt(at - 1), text.charCodeAt(at))
      const shift = shifts[place] ?? 0
      if (shift === 0) {
        const begin = at - window + 1
        for (const needle of ending.get(place) ?? []) if (text.startsWith(needle, begin)) return true
        comparisons -= ending.get(place)?.length ?? 0
        if (comparisons < 0) return true
      }
      at += shift === 0 ? 1 : shift
    }
    return false
  }
}
