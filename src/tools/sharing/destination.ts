import { isDeepStrictEqual } from 'node:util'
import type { ToolDefinition } from '../tool.ts'
import { checkDefinition } from '../tool-definition.ts'

/**
 * Matches the scheme, host and port of a URL template as written, with its placeholders. If the template starts with a
 * base URL, matches the placeholder for the base URL.
 */
const AUTHORITY = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:\{\{.*?\}\}|[^/?#])*/is

/** Describes where the tool's requests go. Tools with equal `decidedBy` send them to the same origins. */
const destinationOf = (definition: ToolDefinition): { words: string; decidedBy: unknown } => {
  const compiled = checkDefinition(definition)
  if (!compiled.ok) return { words: 'nowhere, because its template is invalid', decidedBy: undefined }
  const { origin } = compiled.value.template
  if (origin.kind === 'fixed') return { words: origin.origin, decidedBy: origin.origin }
  const [authority] = AUTHORITY.exec(definition.url) ?? []
  return {
    words: `wherever ${origin.parameters.map(name => `"${name}"`).join(', ')} in ${authority} points`,
    decidedBy: {
      authority,
      // A parameter without a value uses its default, and the allowed origins restrict its value.
      metas: origin.parameters.map(name => definition.parameters[name]),
      allowedOrigins: definition.allowedOrigins,
    },
  }
}

/** Describes how the destination of a tool's requests changes. Returns undefined if the origins stay the same. */
export const findMove = (before: ToolDefinition, after: ToolDefinition): { from: string; to: string } | undefined => {
  const [from, to] = [destinationOf(before), destinationOf(after)]
  return isDeepStrictEqual(from.decidedBy, to.decidedBy) ? undefined : { from: from.words, to: to.words }
}
