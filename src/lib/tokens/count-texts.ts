import { createTokenCounter } from './token-counter.ts'

/** Counts lists of texts one after the other, and a text that comes again once. */
export const createTextCount = () => {
  const count = createTokenCounter()
  return async (texts: readonly string[]): Promise<number[]> => {
    const counted: number[] = []
    for (const text of texts) counted.push(await count(text))
    return counted
  }
}
