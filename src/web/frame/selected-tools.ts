import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { formValues } from '../../lib/http/pages/forms.ts'
import { formatCount } from '../../lib/kernel/format.ts'

/** As many as a page of a table has, so that the address stays short. */
const MAX_SELECTED = 100

const Selection = z.object({
  tool: formValues.transform(texts => [
    ...new Set(texts.slice(0, MAX_SELECTED).filter(text => z.uuid().safeParse(text).success)),
  ]),
})

/** Returns the IDs of the selected rows of a table, which a form sends as `?tool=<id>&tool=<id>`. Ignores other text. */
export const selectedIds = ({ query }: FastifyRequest): string[] => Selection.parse(query).tool

/** Same as `selectedIds`, but for a form that is sent with POST. */
export const postedIds = ({ body }: FastifyRequest): string[] => Selection.parse(body ?? {}).tool

/** Names the selected tools in a heading: `get_order`, or `3 tools`. */
export const nameOfTools = (tools: readonly { name: string }[]): string => {
  const [first] = tools
  if (first === undefined) return 'tools'
  return tools.length === 1 ? first.name : formatCount(tools.length, 'tool')
}

export const NOTHING_SELECTED = 'No tool is selected. Go back and select at least one.'
