// Finds what can follow in a placeholder that is being typed.

/** @typedef {{ label: string, detail: string, insert: string, isWhole: boolean, source?: string }} Completion */
/** A parameter, or a global with its source. @typedef {{ name: string, detail: string, source?: string }} Named */

/** The types of `template.ts`. @type {readonly (readonly [string, string])[]} */
const TYPES = [
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['boolean', 'yes or no'],
  ['json', 'an array, an object or any JSON'],
  ['url', 'the base URL, at the start'],
  ['string', 'text, which is the default'],
]

/** The serializations of `template.ts`, with what they send. @type {readonly (readonly [string, string])[]} */
const SERIALIZATIONS = [
  ['repeat', 'tag=a&tag=b'],
  ['comma', 'a,b'],
  ['space', 'a b, separated by spaces'],
  ['tab', 'a b, separated by tabs'],
  ['pipe', 'a|b'],
  ['dot', 'a.b'],
  ['brackets', 'filter[a]=1'],
  ['spread', 'a=1&b=2'],
  ['segments', 'text that keeps its slashes'],
]

/** The text after the last `{{` that is not closed. */
const OPEN = /(\\*)\{\{([^{}\n]{0,200})$/

/** @param {Named} named @returns {Completion} */
const toName = ({ name, ...about }) => ({ label: name, insert: name, isWhole: true, ...about })

/**
 * Returns the completions for the text before the caret, and where the text to replace starts. Returns undefined if the
 * caret is not in an open placeholder, or nothing can follow.
 * @param {string} before
 * @param {{ parameters: readonly Named[], globals: readonly Named[] }} context
 * @returns {{ from: number, options: readonly Completion[] } | undefined}
 */
export const findCompletions = (before, { parameters, globals }) => {
  const [, backslashes = '', inner] = OPEN.exec(before.slice(-300)) ?? []
  if (inner === undefined || backslashes.length % 2 === 1 || inner.includes('=')) return undefined
  const afterPipe = inner.includes('|')
  const afterType = inner.includes(':')
  const typed = inner.slice(Math.max(inner.lastIndexOf('|'), inner.lastIndexOf(':')) + 1).trimStart()
  const names = [...parameters, ...globals.filter(({ name }) => parameters.every(one => one.name !== name))].map(toName)
  const types = TYPES.map(([type, detail]) => ({ label: `${type}:`, detail, insert: `${type}:`, isWhole: false }))
  const serializations = SERIALIZATIONS.map(([label, detail]) => ({ label, detail, insert: label, isWhole: true }))
  const all = afterPipe ? serializations : afterType ? names : [...names, ...types]
  const options = all.filter(({ label }) => label.toLowerCase().startsWith(typed.toLowerCase()) && label !== typed)
  return options.length === 0 ? undefined : { from: before.length - typed.length, options }
}
