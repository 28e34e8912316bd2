import type { Range } from '../find-secrets.ts'
import { isEscapeAt, isWordAt } from './boundaries.ts'

/** Maximum characters of the part before the `@` (RFC 5321 §4.5.3.1.1). */
const LOCAL_CHARACTERS = 64
/** Maximum characters of a domain (RFC 5321 §4.5.3.1.2). */
const DOMAIN_CHARACTERS = 255

/** The `@`, also as URLs and HTML write it. */
const AT = /@|%40|&#64;|&#x40;/gi
const LOCAL_SIGNS = ".-+%'~&!#$*"
const DOMAIN = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,10}(?:xn--[a-z0-9-]{1,59}|\p{L}{2,63})/iu

/** Matches the part after the `@` of file names such as `logo@2x.png` and packages such as `name@1.2.3-beta.x`. */
const OTHER_USE = /^(?:\d+x\.(?:png|jpe?g|gif|webp|avif|svg)$|\d+\.\d+\.\d+)/i

const startOfLocal = (text: string, end: number): number => {
  let start = end
  const least = Math.max(0, end - LOCAL_CHARACTERS)
  while (start > least && (isWordAt(text, start - 1) || LOCAL_SIGNS.includes(text.charAt(start - 1)))) {
    if (isEscapeAt(text, start - 1)) break
    start -= 1
  }
  while (start < end && !isWordAt(text, start)) start += 1
  return start
}

/** Finds email addresses in linear time. Quoted local parts and addresses in brackets (RFC 5321 §4.1.2) are not found. */
export const findEmails = (text: string): Range[] => {
  const ranges: Range[] = []
  for (const { index, 0: sign } of text.matchAll(AT)) {
    const start = startOfLocal(text, index)
    if (start === index) continue
    const after = index + sign.length
    const [domain] = DOMAIN.exec(text.slice(after, after + DOMAIN_CHARACTERS)) ?? []
    if (domain === undefined || OTHER_USE.test(domain)) continue
    const end = after + domain.length
    // SSH addresses of repositories all have this user name: `git@github.com:org/name`.
    if (text.slice(start, index) === 'git' && text.charAt(end) === ':') continue
    ranges.push([Math.max(start, ranges.at(-1)?.[1] ?? 0), end])
  }
  return ranges.filter(([start, end]) => start < end)
}
