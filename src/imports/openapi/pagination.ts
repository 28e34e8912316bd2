import { renderPath } from '../../lib/json/path.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { toObject } from './nodes.ts'

/**
 * How to get the next page of results: from a parameter to which a member of the last response is passed, from a member
 * that is the URL of the page, from a number that is raised, or from the URL in the header `Link` (RFC 8288) with
 * `rel="next"`.
 */
export type Pagination =
  | { kind: 'cursor'; parameter: string; field: string | undefined }
  | { kind: 'url'; parameter: string; field: string }
  | { kind: 'number'; parameter: string }
  | { kind: 'link' }

const CURSOR =
  /^(?:page_?token|next_?(?:page_?)?token|(?:next|start|page)?_?cursor|continuation_?token|starting_?after|after|marker|start_?key|pagination_?token)$/i
const NUMBER = /^(?:page|page_?(?:number|no|index)|offset|skip|start_?(?:at|index))$/i
const NEXT_FIELD =
  /^(?:next_?page_?token|next_?(?:page_?)?cursor|next_?token|end_?cursor|continuation_?token|next_?marker|cursor|after|next_?start_?key|pagination_?token)$/i

const NEXT_URL = /^(?:next_?page_?(?:ur[il]|link|href)|next_?(?:ur[il]|link|href)|@odata\.nextLink|next)$/i

type Member = { path: readonly string[]; schema: JsonObject }

const membersOf = ({ path, schema }: Member): readonly Member[] =>
  Object.entries(toObject(schema.properties)).map(([name, member]) => ({
    path: [...path, name],
    schema: toObject(member),
  }))

/** Returns the path of the member with such a name, at the top of the response or one level below. */
const findField = (response: JsonObject, name: RegExp): Member | undefined => {
  const members = membersOf({ path: [], schema: response })
  const isFound = ({ path }: Member): boolean => name.test(path.at(-1) ?? '')
  return members.find(isFound) ?? members.flatMap(membersOf).find(isFound)
}

const textOfPath = ({ path }: Member): string => renderPath(path.map(name => ({ kind: 'member', name })))

/** Returns the path of the URL of the next page. HAL has an object there, with the URL as `href`. */
const findUrlField = (response: JsonObject): string | undefined => {
  const found = findField(response, NEXT_URL)
  const href = found && membersOf(found).find(({ path }) => path.at(-1) === 'href')
  return found && textOfPath(href ?? found)
}

/** Finds how an operation returns its results in pages. `query` has the names of its parameters, in the API and here. */
export const findPagination = (
  query: readonly (readonly [place: string, name: string, parameter: string])[],
  response: JsonObject,
  hasLinkHeader: boolean,
): Pagination | undefined => {
  const cursor = query.find(([, name]) => CURSOR.test(name))
  const number = query.find(([, name]) => NUMBER.test(name))
  const field = cursor && findField(response, NEXT_FIELD)
  const url = field === undefined ? findUrlField(response) : undefined
  const [, , parameter] = cursor ?? number ?? []
  if (url !== undefined && parameter !== undefined) return { kind: 'url', parameter, field: url }
  if (cursor !== undefined) return { kind: 'cursor', parameter: cursor[2], field: field && textOfPath(field) }
  if (number !== undefined) return { kind: 'number', parameter: number[2] }
  return hasLinkHeader ? { kind: 'link' } : undefined
}

/**
 * Returns how the tool finds the cursor of the next page in its results. Undefined if the description does not say where
 * it is. A `Link` header needs no declaration.
 */
export const paginationOfTool = (pagination: Pagination | undefined): ToolDefinition['pagination'] =>
  (pagination?.kind === 'cursor' || pagination?.kind === 'url') && pagination.field !== undefined
    ? { parameter: pagination.parameter, at: pagination.field }
    : undefined

/** Returns the sentence of the description that tells models how to get the next page. Empty if they cannot. */
export const describePagination = (pagination: Pagination | undefined): string => {
  if (pagination?.kind === 'cursor') {
    const { parameter, field } = pagination
    return field === undefined
      ? `Results come in pages: use ${parameter} for the next one.`
      : `Results come in pages: for the next one, pass ${field} of the result as ${parameter}.`
  }
  if (pagination?.kind === 'url') return 'Results come in pages: the end of a result says how to get the next one.'
  return pagination?.kind === 'number' ? `Results come in pages: raise ${pagination.parameter} for the next one.` : ''
}
