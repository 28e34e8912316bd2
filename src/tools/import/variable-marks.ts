import { MAX_PARAMETERS } from '../../templates/limits.ts'
import type { RequestVariable } from './imported-request.ts'
import { UnreadableText } from './text-fault.ts'

/**
 * Delimits the name of a variable in a text. A command cannot contain this character, so marks are never confused with
 * text that only looks like a variable, such as `$` in single quotes.
 */
const MARK = '\0'

export const markOf = (name: string): string => MARK + name + MARK

export const hasVariables = (text: string): boolean => text.includes(MARK)

/** A literal text, or the name of a variable. */
export type MarkedPiece = { kind: 'text'; text: string } | { kind: 'variable'; name: string }

/** Splits a text into its literal texts and variables. Empty texts are dropped. */
export const splitMarks = (text: string): readonly MarkedPiece[] =>
  text
    .split(MARK)
    .map(
      (piece, index): MarkedPiece =>
        index % 2 === 0 ? { kind: 'text', text: piece } : { kind: 'variable', name: piece },
    )
    .filter(piece => piece.kind === 'variable' || piece.text !== '')

/** Returns the name of the variable that is all of a text. Undefined if there is other text. */
export const onlyVariable = (text: string): string | undefined => {
  const [only, more] = splitMarks(text)
  return only?.kind === 'variable' && more === undefined ? only.name : undefined
}

/** Replaces each variable by a text. */
export const fillMarks = (text: string, textFor: (name: string) => string): string =>
  splitMarks(text)
    .map(piece => (piece.kind === 'text' ? piece.text : textFor(piece.name)))
    .join('')

/** Changes the literal texts and keeps the variables. */
export const mapLiterals = (text: string, change: (literal: string) => string): string =>
  splitMarks(text)
    .map(piece => (piece.kind === 'text' ? change(piece.text) : markOf(piece.name)))
    .join('')

/** Turns a text into a name of letters, digits and `_` that starts with a letter or `_`; `fallback` if none is left. */
export const toSnakeCase = (text: string, fallback: string): string => {
  const words = text
    .slice(0, 200)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '')
  const name = words.join('_').slice(0, 48)
  if (name === '') return fallback
  return /^\d/.test(name) ? `_${name}` : name
}

/** Creates a function that makes names unique: it returns a name as given or, if it is taken, with a number from 2 on. */
export const createNames = (): ((name: string) => string) => {
  const taken = new Set<string>()
  const counts = new Map<string, number>()
  return name => {
    let free = name
    let count = counts.get(name) ?? 2
    for (; taken.has(free); count++) free = `${name}_${count}`
    taken.add(free)
    counts.set(name, count)
    return free
  }
}

/** The variables found so far. */
export type VariableList = {
  /** Adds a variable, unless it is known, and returns its mark. Throws if there are too many. */
  add: (variable: RequestVariable, offset: number) => string
  all: () => readonly RequestVariable[]
  /** Forgets all variables. */
  clear: () => void
}

/** Two variables of the shell are the same if their names are; anything else, if it is written in the same way. */
const keyOf = ({ from, name, written }: RequestVariable): string =>
  /^\$\{?\w+\}?$|^%\w+%$/.test(written) ? `${from} ${name}` : `${from} ${written}`

export const createVariableList = (): VariableList => {
  const byKey = new Map<string, RequestVariable>()
  let nameFor = createNames()
  return {
    add: (variable, offset) => {
      const key = keyOf(variable)
      const known = byKey.get(key)
      if (known !== undefined) return markOf(known.name)
      if (byKey.size === MAX_PARAMETERS) {
        throw new UnreadableText(`there are more than ${MAX_PARAMETERS} variables`, offset)
      }
      const name = nameFor(variable.name)
      byKey.set(key, { ...variable, name })
      return markOf(name)
    },
    all: () => [...byKey.values()],
    clear: () => {
      byKey.clear()
      nameFor = createNames()
    },
  }
}
