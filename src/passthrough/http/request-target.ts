import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { URL_ENDING } from '../../lib/kernel/server-url.ts'
import type { PassedTarget } from '../route/target.ts'

/**
 * The two forms of a request target that have a path (RFC 9112 §3.2). Backslashes are not allowed, because some
 * programs treat them as slashes.
 */
const TARGET = /^(?:https?:\/\/[^/?#\\]*)?\/s\/[0-9a-f-]{36}((?:\/[!-"$->@-[\]-~]*)?)((?:\?[!-"$-~]*)?)$/i

/** Matches endings of our own address, which are not passed to the upstream. */
const OWN_ENDING = new RegExp(`^${URL_ENDING}$`)

/** Escapes that may hide a slash, a backslash, a dot, a semicolon or another escape. */
const ESCAPED = /%(?:2e|2f|5c|25|3b)/gi
/** Maximum depth of nested escapes. Legitimate clients need fewer levels. */
const MAX_DECODINGS = 8

const unfold = (path: string): string | undefined => {
  let text = path
  for (let times = 0; times < MAX_DECODINGS; times++) {
    const next = text.replace(ESCAPED, decodeURIComponent)
    if (next === text) return text
    text = next
  }
  return undefined
}

/** Returns whether a path segment is `.` or `..`, with or without parameters. */
const isDotSegment = (segment: string): boolean => {
  const [name] = segment.split(';', 1)
  return name === '.' || name === '..'
}

/** Parses the target of a request. Refuses targets that could lead outside the upstream's path, in any encoding. */
export const readPassedTarget = (url: string): Result<PassedTarget, string> => {
  const match = TARGET.exec(url)
  if (match === null) return failure('the request path contains invalid characters')
  const [, path = '', search = ''] = match
  // Upgrades and rare methods do not pass the router, which removes this slash.
  const suffix = path === '/' ? '' : path
  if (OWN_ENDING.test(`${suffix}${search}`)) return success({ suffix: '', search: '' })
  if (!suffix.includes('.') && !suffix.includes('%')) return success({ suffix, search })
  const plain = unfold(suffix)
  if (plain === undefined || plain.split(/[/\\]/).some(isDotSegment)) {
    return failure('the request path contains a segment "." or ".."')
  }
  return success({ suffix, search })
}
