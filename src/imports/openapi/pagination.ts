import { renderPath } from '../../lib/json/path.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { toObject } from './nodes.ts'

/**
 * How to get the next page of results: from a parameter to which a member of the last response is passed, from a number
 * that is raised, or from the URL in the header `Link` (RFC 8288) with `rel="next"`.
 */
export type Pagination =
  | { kind: 'cursor'; parameter: string; field: string | undefined }
  | { kind: 'number'; parameter: string }
  | { kind: 'link' }

const CURSOR =
  /^(?:page_?token|next_?(?:page_?)?token|(?:next|start|page)?_?cursor|continuation_?token|starting_?after|after|marker|start_?key|pagination_?token)$/i
const NUMBER = /^(?:page|page_?(?:number|no|index)|offset|skip|start_?(?:at|index))$/i
const NEXT_FIELD =
  /^(?:next_?page_?token|next_?(?:page_?)?cursor|next_?token|end_?cursor|continuation_?token|next_?marker|cursor|after|next_?start_?key|pagination_?token)$/i

/** Returns the path of the member that has the next cursor, at the top of the response or one level below. */
const findField = (response: JsonObject): string | undefined => {
  const members = Object.entries(toObject(response.properties))
  const own = members.find(([name]) => NEXT_FIELD.test(name))
  if (own !== undefined) return own[0]
  for (const [name, member] of members) {
    const inner = Object.keys(toObject(toObject(member).properties)).find(key => NEXT_FIELD.test(key))
    if (inner !== undefined) return renderPath([name, inner].map(member => ({ kind: 'member', name: member })))
  }
  return undefined
}

/** Finds how an operation returns its results in pages. `query` has the names of its parameters, in the API and here. */
export const findPagination = (
  query: readonly (readonly [place: string, name: string, parameter: string])[],
  response: JsonObject,
  hasLinkHeader: boolean,
): Pagination | undefined => {
  const cursor = query.find(([, name]) => CURSOR.test(name))
  if (cursor !== undefined) return { kind: 'cursor', parameter: cursor[2], field: findField(response) }
  const number = query.find(([, name]) => NUMBER.test(name))
  if (number !== undefined) return { kind: 'number', parameter: number[2] }
  return hasLinkHeader ? { kind: 'link' } : undefined
}

/**
 * Returns how the tool finds the cursor of the next page in its results. Undefined if the description does not say where
 * it is. A `Link` header needs no declaration.
 */
export const paginationOfTool = (pagination: Pagination | undefined): ToolDefinition['pagination'] =>
  pagination?.kind === 'cursor' && pagination.field !== undefined
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
  return pagination?.kind === 'number' ? `Results come in pages: raise ${pagination.parameter} for the next one.` : ''
}
