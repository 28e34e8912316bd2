/** Lines that two texts share, or lines of the first that the second has replaced. */
type DiffPart = { kept: readonly string[] } | { removed: readonly string[]; added: readonly string[] }

/** Pairs of lines that are compared at most. Longer differences are shown as one. */
const MAX_COMPARED = 250_000

/** Returns how many lines are the same at the start, or at the end of two lists. */
const countAlike = (one: readonly string[], other: readonly string[], at: (count: number) => number): number => {
  const most = Math.min(one.length, other.length)
  let count = 0
  while (count < most && one.at(at(count)) === other.at(at(count))) count++
  return count
}

/** Returns a function for the length of the longest common subsequence of the lines from two positions on. */
const measureCommon = (one: readonly string[], other: readonly string[]) => {
  const width = other.length + 1
  const lengths = new Uint32Array((one.length + 1) * width)
  const lengthFrom = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      const isSame = one[i] === other[j]
      lengths[i * width + j] = isSame
        ? lengthFrom(i + 1, j + 1) + 1
        : Math.max(lengthFrom(i + 1, j), lengthFrom(i, j + 1))
    }
  }
  return lengthFrom
}

/** Compares lines that differ at both ends. */
const diffMiddle = (one: readonly string[], other: readonly string[]): DiffPart[] => {
  if (one.length === 0 && other.length === 0) return []
  if (one.length * other.length > MAX_COMPARED) return [{ removed: one, added: other }]
  const lengthFrom = measureCommon(one, other)
  const isSame = (i: number, j: number): boolean => i < one.length && j < other.length && one[i] === other[j]
  const parts: DiffPart[] = []
  let i = 0
  let j = 0
  while (i < one.length || j < other.length) {
    const [startI, startJ] = [i, j]
    if (isSame(i, j)) {
      for (; isSame(i, j); j++) i++
      parts.push({ kept: one.slice(startI, i) })
      continue
    }
    while ((i < one.length || j < other.length) && !isSame(i, j)) {
      if (j === other.length || (i < one.length && lengthFrom(i + 1, j) >= lengthFrom(i, j + 1))) i++
      else j++
    }
    parts.push({ removed: one.slice(startI, i), added: other.slice(startJ, j) })
  }
  return parts
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'))

/** Compares two texts line by line. An empty text has no lines. */
export const diffLines = (before: string, after: string): DiffPart[] => {
  const [one, other] = [linesOf(before), linesOf(after)]
  const start = countAlike(one, other, count => count)
  const [restOfOne, restOfOther] = [one.slice(start), other.slice(start)]
  const end = countAlike(restOfOne, restOfOther, count => -1 - count)
  const middle = diffMiddle(restOfOne.slice(0, restOfOne.length - end), restOfOther.slice(0, restOfOther.length - end))
  const kept = (lines: readonly string[]): DiffPart[] => (lines.length === 0 ? [] : [{ kept: lines }])
  return [...kept(one.slice(0, start)), ...middle, ...kept(one.slice(one.length - end))]
}
