import { instructionsOf, type UpstreamSource } from '../../upstreams/catalogue/present-tools.ts'
import { cutText } from '../call/group-texts.ts'

/** Maximum length of all upstreams' instructions together, about 4,000 tokens. Many clients add them to each chat. */
const MAX_UPSTREAMS_CHARS = 16_000
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/

/** Quotes each line, so that an upstream cannot write the heading of another upstream's section. */
const quote = (text: string): string =>
  text
    .split(LINE_BREAK)
    .map(line => `> ${line}`)
    .join('\n')

/**
 * Merges a server's own description with the instructions of its upstreams, each quoted below the upstream's name and
 * cut to an equal share of the room. `hide` masks secrets. The sources of a server that reviews its upstreams have no
 * instructions.
 */
export const mergeInstructions = (
  description: string | undefined,
  sources: readonly UpstreamSource[],
  hide: (text: string) => string,
): string | undefined => {
  const known = sources.flatMap(source => {
    const text = hide(instructionsOf(source) ?? '').trim()
    return text === '' ? [] : { name: source.upstream.name, text }
  })
  const share = Math.floor(MAX_UPSTREAMS_CHARS / known.length)
  const sections = known.map(({ name, text }) => `## ${name}\n${cutText(quote(text), share)}`)
  const all = description === undefined ? sections : [description, ...sections]
  return all.length === 0 ? undefined : all.join('\n\n')
}
