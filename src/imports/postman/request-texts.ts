import type { ParameterMeta } from '../../templates/check-value.ts'
import type { RequestVariable } from '../../tools/import/imported-request.ts'
import { markOf } from '../../tools/import/variable-marks.ts'
import { parameterNameOf } from '../openapi/names.ts'
import { createMembers } from '../requests/members.ts'
import { type Scope, splitVariables } from './variables.ts'

/** The variable for the start of the URL. No variable of Postman can have this name, which contains braces. */
export const BASE_URL = '{base_url}'

/** Starts the names of variables for credentials that the collection does not have. */
const MISSING = '{missing '

/** Returns whether a variable stands for a credential that the collection does not have. */
export const isMissing = (written: string): boolean => written.startsWith(MISSING)

const nameOf = (variable: string): string =>
  parameterNameOf(variable.replace(/^\$|^vault:/, '') || 'value', 'value', new Set())

/** Describes a variable that Postman generates, such as `$guid`. */
const metaOf = (variable: string): ParameterMeta | undefined =>
  variable.startsWith('$') ? { description: `Postman generates this value (${variable.slice(0, 60)}).` } : undefined

/** Replaces the variables in the texts of one request by marks, and collects them and the members of the request. */
export const createRequestTexts = (scope: Scope) => {
  const variables = new Map<string, RequestVariable>()
  const metas = new Map<string, ParameterMeta>()
  const members = createMembers()
  const notes = new Set<string>()

  const markVariable = (name: string, placeholder: RequestVariable['placeholder'] = { name: nameOf(name) }): string => {
    if (!variables.has(name)) variables.set(name, { name, written: name, from: 'placeholder', placeholder })
    const meta = metaOf(name)
    if (meta !== undefined) metas.set(name, meta)
    return markOf(name)
  }

  return {
    members,
    note: (sentence: string): void => void notes.add(sentence),
    markVariable,
    /** Returns the mark of a credential that the collection does not have. */
    markMissing: (name: string): string => markVariable(`${MISSING}${name}}`, { name }),
    /** Marks the variables of a text. `write` changes the text around them. */
    mark: (text: string, write: (literal: string) => string = literal => literal): string =>
      splitVariables(text)
        .map(piece => ('text' in piece ? write(piece.text) : markVariable(piece.name)))
        .join(''),
    /** Marks the variables of a segment of a path. One whose value has several segments is filled in. */
    markSegment: (text: string, write: (literal: string) => string): string =>
      splitVariables(text)
        .map(piece => {
          if ('text' in piece) return write(piece.text)
          const value = scope.isSecret(piece.name) ? undefined : scope.expand(`{{${piece.name}}}`)
          return value?.includes('/') ? value.split('/').map(write).join('/') : markVariable(piece.name)
        })
        .join(''),
    hasVariables: (text: string): boolean => splitVariables(text).some(piece => 'name' in piece),
    /** Returns the values of variables in a text that cannot have parameters, such as a key. Undefined if one has none. */
    expand: scope.expand,
    finish: () => ({
      variables: [...variables.values(), ...members.variables()],
      metas: new Map([...metas, ...members.metas()]),
      notes: [...notes],
    }),
  }
}
export type RequestTexts = ReturnType<typeof createRequestTexts>
