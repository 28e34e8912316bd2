/** Asks the questions and counts how often a right tool is among the first found. */
import { fileURLToPath } from 'node:url'
import type { Question } from './questions.ts'

export const CATALOGUE_SCRIPT = fileURLToPath(new URL('./catalogue-upstream.ts', import.meta.url))
/** The name of the catalogue's upstream, which is the prefix of its tools. */
export const CATALOGUE_NAME = 'apis'

const WITHIN = 5

/** The ranking was tuned on every second question of each level. The others were kept aside until then. */
export const tunedOn = (questions: readonly Question[]): Question[] => questions.filter((_, index) => index % 2 === 0)
export const keptAside = (questions: readonly Question[]): Question[] => questions.filter((_, index) => index % 2 === 1)

export type Asked = Question & {
  /** Starts at 1. Undefined if no right tool was found. */
  rank: number | undefined
  found: readonly string[]
}

/** `find` returns the tool names found for a question as clients see them, best first. */
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
