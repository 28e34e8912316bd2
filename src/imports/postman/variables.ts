import { looksSecret } from '../../tools/secret-looks.ts'
import { secretRuleOf } from '../../tools/secret-parameters.ts'
import type { PostmanCollection, PostmanEnvironment, PostmanVariable } from './collection.schema.ts'

/** Matches a variable. Names can contain spaces and dots. */
const VARIABLE = /\{\{([^{}\0]{1,200})\}\}/g

/** Longer values are not the base of a URL or a part of one. */
const MAX_EXPANDED_CHARS = 16_384
/** Maximum depth of variables in the values of variables. Postman has the same limit. */
const MAX_DEPTH = 20

export type KnownVariable = { value: string; isSecret: boolean }

/** Where scripts store a value under a name: `pm.environment.set("token", …)`. */
const SETTER = /\.set(?:EnvironmentVariable|GlobalVariable)?\(\s*["'`]([^"'`\\\r\n]{1,200})["'`]/g

/** Returns the names of the variables that scripts set. Reads the scripts only; nothing is run. */
export const variablesOfScripts = (scripts: readonly string[]): ReadonlySet<string> =>
  new Set(scripts.flatMap(script => [...script.matchAll(SETTER)].map(([, name = '']) => name)))

/** A variable that is named like a credential is one. Nobody checks the names of hundreds of variables by hand. */
const isSecretVariable = ({ key, value, type }: PostmanVariable): boolean =>
  type === 'secret' ||
  looksSecret(value) ||
  secretRuleOf({ place: 'query', name: key, value }) !== 'none' ||
  secretRuleOf({ place: 'header', name: key }) === 'kept'

/** Globals are overridden by the variables of the collection, and these by the environment. */
const inOrder = (collection: PostmanCollection, environments: readonly PostmanEnvironment[]) => {
  const areGlobals = Map.groupBy(environments, one => one._postman_variable_scope === 'globals')
  const valuesOf = (isGlobal: boolean) => (areGlobals.get(isGlobal) ?? []).flatMap(({ values }) => values)
  return [...valuesOf(true), ...collection.variable, ...valuesOf(false)]
}

/** Splits a text at its variables. Names are trimmed, as Postman does not. */
export const splitVariables = (text: string): readonly ({ name: string } | { text: string })[] =>
  text
    .split(VARIABLE)
    .map((piece, index) => (index % 2 === 1 ? { name: piece.trim() } : { text: piece }))
    .filter(piece => 'name' in piece || piece.text !== '')

/** Reads the variables that have values in the collection or an environment. */
export const createScope = (collection: PostmanCollection, environments: readonly PostmanEnvironment[]) => {
  const known = new Map<string, KnownVariable>()
  for (const variable of inOrder(collection, environments)) {
    if (variable.disabled === true || variable.enabled === false || variable.key === '') continue
    const isSecret = isSecretVariable(variable) || known.get(variable.key)?.isSecret === true
    known.set(variable.key, { value: variable.value, isSecret })
  }

  const expand = (text: string, open: readonly string[]): string | undefined => {
    let expanded = ''
    for (const piece of splitVariables(text)) {
      const value = 'text' in piece ? piece.text : expandVariable(piece.name, open)
      if (value === undefined || expanded.length + value.length > MAX_EXPANDED_CHARS) return undefined
      expanded += value
    }
    return expanded
  }

  const expandedValues = new Map<string, string | undefined>()
  const expandVariable = (name: string, open: readonly string[]): string | undefined => {
    if (expandedValues.has(name)) return expandedValues.get(name)
    const value = known.get(name)?.value
    if (value === undefined || value === '' || open.includes(name) || open.length === MAX_DEPTH) return undefined
    const expanded = expand(value, [...open, name])
    expandedValues.set(name, expanded)
    return expanded
  }

  const secretness = new Map<string, boolean>()
  /** A variable is a secret if its value contains one. */
  const isSecret = (name: string): boolean => {
    const found = secretness.get(name)
    if (found !== undefined) return found
    const variable = known.get(name)
    secretness.set(name, variable?.isSecret === true)
    const holdsSecret = splitVariables(variable?.value ?? '').some(piece => 'name' in piece && isSecret(piece.name))
    secretness.set(name, variable?.isSecret === true || holdsSecret)
    return secretness.get(name) === true
  }

  return {
    has: (name: string): boolean => known.has(name),
    /** Returns the text with the values of its variables. Undefined if one has none, or contains itself. */
    expand: (text: string): string | undefined => expand(text, []),
    isSecret,
    /** Returns the values of all secrets that have one. */
    secrets: (): readonly string[] =>
      [...known.keys()].filter(isSecret).flatMap(name => expandVariable(name, []) ?? known.get(name)?.value ?? []),
  }
}
export type Scope = ReturnType<typeof createScope>
