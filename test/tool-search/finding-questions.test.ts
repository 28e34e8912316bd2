import { describe, expect, it } from 'vitest'
import { listCatalogue } from '../../bench/finding/catalogue.ts'
import { DIRECT, PARAPHRASED, type Question } from '../../bench/finding/questions.ts'
import { UNSEEN_DIRECT, UNSEEN_PARAPHRASED, UNSEEN_REWORDED } from '../../bench/finding/unseen-questions.ts'
import { wordsOfTool } from '../../src/tool-search/ranking/tool-words.ts'
import { isStopWord, searchWordsOf, stemOf } from '../../src/tool-search/ranking/words.ts'

const CATALOGUE = new Map(listCatalogue().map(tool => [tool.name, tool]))

const stemsOf = (words: readonly string[]): Set<string> => new Set(words.filter(word => !isStopWord(word)).map(stemOf))

const sharedOf = (asked: ReadonlySet<string>, words: readonly string[]): string[] =>
  [...stemsOf(words)].filter(stem => asked.has(stem))

/** Returns the stems that a question shares with its tools' names and texts. */
const sharedBy = ({ ask, tools }: Question) => {
  const asked = stemsOf(searchWordsOf(ask))
  const perTool = tools.map(name => {
    const tool = CATALOGUE.get(name)
    const words = tool === undefined ? undefined : wordsOfTool(tool)
    const text = words === undefined ? [] : Object.values(words).flat()
    return { name: sharedOf(asked, searchWordsOf(name)), text: sharedOf(asked, text) }
  })
  return { asked, perTool }
}

describe('the questions that finding tools is measured by', () => {
  it('are about a catalogue of more than five hundred real operations of three APIs', () => {
    expect(CATALOGUE.size).toBeGreaterThan(500)
    expect(new Set([...CATALOGUE.keys()].map(name => name.split('_')[0])).size).toBe(3)
  })

  it('are at least fifty of each level, none of them twice', () => {
    expect(DIRECT.length).toBeGreaterThanOrEqual(50)
    expect(PARAPHRASED.length).toBeGreaterThanOrEqual(50)
    const asked = [...DIRECT, ...PARAPHRASED].map(({ ask }) => ask)
    expect(new Set(asked).size).toBe(asked.length)
  })

  it('have answers that are in the catalogue', () => {
    const wanted = [...DIRECT, ...PARAPHRASED].flatMap(({ tools }) => tools)
    expect(wanted.filter(name => !CATALOGUE.has(name))).toEqual([])
  })

  it('are, in the unseen set, about tools that the ranking was not tuned with', () => {
    const whole = new Set(listCatalogue(true).map(({ name }) => name))
    const wanted = [...UNSEEN_DIRECT, ...UNSEEN_PARAPHRASED, ...UNSEEN_REWORDED].flatMap(({ tools }) => tools)
    expect(wanted.filter(name => !whole.has(name) || CATALOGUE.has(name))).toEqual([])
    const asked = [...UNSEEN_DIRECT, ...UNSEEN_PARAPHRASED, ...UNSEEN_REWORDED].map(({ ask }) => ask)
    expect(new Set(asked).size).toBe(120)
  })

  it('share a word with a tool of their answer, on the first level', () => {
    const strange = DIRECT.filter(question => sharedBy(question).perTool.every(({ text }) => text.length === 0))
    expect(strange.map(({ ask }) => ask)).toEqual([])
  })

  it('share none with the names of their answers, and less than half of theirs with the texts, on the second', () => {
    const near = PARAPHRASED.filter(question => {
      const { asked, perTool } = sharedBy(question)
      const most = Math.max(...perTool.map(({ text }) => text.length))
      return perTool.some(({ name }) => name.length > 0) || most > asked.size / 2
    })
    expect(near.map(({ ask }) => ask)).toEqual([])
  })
})
