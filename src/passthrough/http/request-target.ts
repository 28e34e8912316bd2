import { failure, type Result, success } from '../../kernel/index.ts'

/** What a request asks for behind its server's own address: empty, or with a slash at its start; the query with its `?`. */
export type PassedTarget = { suffix: string; search: string }

/** In either form of a request target that has a path (RFC 9112 §3.2). No backslash: some take it for a slash. */
const TARGET = /^(?:https?:\/\/[^/?#\\]*)?\/s\/[0-9a-f-]{36}((?:\/[!-"$->@-[\]-~]*)?)((?:\?[!-"$-~]*)?)$/i

/** What may hide a slash, a dot or another escape. */
const ESCAPED = /%(?:2e|2f|5c|25|3b)/gi
/** So often may one escape hide another; nobody means more. */
const MAX_UNFOLDINGS = 8

const unfold = (path: string): string | undefined => {
  let text = path
  for (let times = 0; times < MAX_UNFOLDINGS; times++) {
    const next = text.replace(ESCAPED, decodeURIComponent)
    if (next === text) return text
    text = next
  }
  return undefined
}

/** Whether a segment means this or the one above, whatever parameters hang on it. */
const isDotSegment = (segment: string): boolean => {
  const [name] = segment.split(';', 1)
  return name === '.' || name === '..'
}

/** Reads the target of a request as it came. What could lead out of the upstream's path, however it is written, is refused. */
export const readPassedTarget = (url: string): Result<PassedTarget, string> => {
  const match = TARGET.exec(url)
  if (match === null) return failure('the path of the request holds what no path may')
  const [, suffix = '', search = ''] = match
  if (!suffix.includes('.') && !suffix.includes('%')) return success({ suffix, search })
  const plain = unfold(suffix)
  if (plain === undefined || plain.split(/[/\\]/).some(isDotSegment)) {
    return failure('the path of the request holds a segment "." or ".."')
  }
  return success({ suffix, search })
}
