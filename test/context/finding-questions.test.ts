import { describe, expect, it } from 'vitest'
import { DIRECT, PARAPHRASED } from '../../bench/finding/questions.ts'

describe('the questions that finding tools is measured by', () => {
  it('are at least fifty of each level, none of them twice', () => {
    expect(DIRECT.length).toBeGreaterThanOrEqual(50)
    expect(PARAPHRASED.length).toBeGreaterThanOrEqual(50)
    const asked = [...DIRECT, ...PARAPHRASED].map(({ ask }) => ask)
    expect(new Set(asked).size).toBe(asked.length)
  })

  it('name nothing that the paraphrased ones are to find', () => {
    const wordsOf = (text: string) =>
      text
        .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
        .toLowerCase()
        .split(/[^a-z]+/)
    const named = PARAPHRASED.flatMap(({ ask, tools }) => {
      const asked = new Set(wordsOf(ask))
      return tools.flatMap(wordsOf).filter(word => word.length > 3 && asked.has(word))
    })
    expect(named).toEqual([])
  })
})
