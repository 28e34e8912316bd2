/** Asks the questions, and says how often one of the right tools is among the first. */
import { fileURLToPath } from 'node:url'
import type { Question } from './questions.ts'

export const CATALOGUE_SCRIPT = fileURLToPath(new URL('./catalogue-upstream.ts', import.meta.url))
/** What the catalogue is called where it is attached; the names of its tools begin with it. */
export const CATALOGUE_NAME = 'apis'

const WITHIN = 5

/** Of each level: the questions that the ranking was tuned on, and those that were kept aside until it was. */
export const tunedOn = (questions: readonly Question[]): Question[] => questions.filter((_, index) => index % 2 === 0)
export const keptAside = (questions: readonly Question[]): Question[] => questions.filter((_, index) => index % 2 === 1)

export type Asked = Question & {
  /** From 1 on; undefined where none of the right tools is among those found. */
  rank: number | undefined
  found: readonly string[]
}

/** `find`: the names that a question finds, the best first, as clients see them. */
export const askAll = async (
  questions: readonly Question[],
  find: (ask: string) => Promise<readonly string[]> | readonly string[],
): Promise<Asked[]> => {
  const asked: Asked[] = []
  for (const question of questions) {
    const found = (await find(question.ask)).map(name => name.replace(`${CATALOGUE_NAME}_`, ''))
    const place = found.findIndex(name => question.tools.includes(name))
    asked.push({ ...question, found, rank: place < 0 ? undefined : place + 1 })
  }
  return asked
}

export const isFound = ({ rank }: Asked): boolean => rank !== undefined && rank <= WITHIN

export const shareFound = (asked: readonly Asked[]): number => asked.filter(isFound).length / Math.max(asked.length, 1)
