import { isDeepStrictEqual } from 'node:util'
import type { ToolDefinition } from '../tool.ts'
import { checkDefinition } from '../tool-definition.ts'

/** Scheme, host and port of a URL template as written, places and all; or the place that its base comes from. */
const AUTHORITY = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:\{\{.*?\}\}|[^/?#])*/is

/** `words` say where the tool's requests go; what has the same `decidedBy` sends them to the same origins. */
const destinationOf = (definition: ToolDefinition): { words: string; decidedBy: unknown } => {
  const compiled = checkDefinition(definition)
  if (!compiled.ok) return { words: 'nowhere, since its template is broken', decidedBy: undefined }
  const { origin } = compiled.value.template
  if (origin.kind === 'fixed') return { words: origin.origin, decidedBy: origin.origin }
  const [authority] = AUTHORITY.exec(definition.url) ?? []
  return {
    words: `wherever ${origin.parameters.map(name => `"${name}"`).join(', ')} in ${authority} says`,
    decidedBy: {
      authority,
      // A default decides when nobody gives a value, and the list of origins what a value may be.
      metas: origin.parameters.map(name => definition.parameters[name]),
      allowedOrigins: definition.allowedOrigins,
    },
  }
}

/** From where to where a tool's requests move, in words; undefined when they go to the same origins as before. */
export const findMove = (before: ToolDefinition, after: ToolDefinition): { from: string; to: string } | undefined => {
  const [from, to] = [destinationOf(before), destinationOf(after)]
  return isDeepStrictEqual(from.decidedBy, to.decidedBy) ? undefined : { from: from.words, to: to.words }
}
