/** Asks the questions and counts how often a correct tool is among the first results. */
import { fileURLToPath } from 'node:url'
import type { Question } from './questions.ts'

export const CATALOGUE_SCRIPT = fileURLToPath(new URL('./catalogue-upstream.ts', import.meta.url))
/** The argument with which the script lists all parts of the catalogue. */
export const WHOLE = 'whole'
/** The name of the catalogue's upstream. It is also the prefix of the upstream's tools. */
export const CATALOGUE_NAME = 'apis'

const WITHIN = 5

/** The ranking was tuned on every second question of each level. The other questions were held out. */
export const tunedOn = (questions: readonly Question[]): Question[] => questions.filter((_, index) => index % 2 === 0)
export const keptAside = (questions: readonly Question[]): Question[] => questions.filter((_, index) => index % 2 === 1)

export type Asked = Question & {
  /** Rank of the first correct tool, starting at 1. Undefined if none was found. */
  rank: number | undefined
  found: readonly string[]
}

/** Asks every question. `find` returns the names of the tools found for a question, as clients see them, best first. */
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
