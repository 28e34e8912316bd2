import { type Path, type PathFault, parsePath } from '../../lib/json/path.ts'
import { failure, type Result } from '../../lib/kernel/result.ts'

/** Matches quoted names, and `[*]`, which means the same as `[]`. */
const QUOTED_OR_ITEMS = /("(?:[^"\\]|\\.)*")|\[\*\]/g

/**
 * Parses a path to fields to remove from a tool's results. Unlike in other paths, a leading `$` is part of a name, and
 * `[*]` matches only the items of arrays. Stored paths may rely on both rules.
 */
export const parseFieldPath = (text: string): Result<Path, PathFault> => {
  const shift = text.startsWith('$') ? 1 : 0
  const items = text.replaceAll(QUOTED_OR_ITEMS, (_whole, quoted: string | undefined) => quoted ?? '[ ]')
  const path = parsePath(shift === 0 ? items : `.${items}`)
  if (!path.ok) return failure({ ...path.error, column: path.error.column - shift })
  return path.value.length > 0 ? path : failure({ column: 1, message: 'must name a field' })
}
