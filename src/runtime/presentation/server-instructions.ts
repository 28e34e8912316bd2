import type { UpstreamSource } from '../../upstreams/catalogue/present-tools.ts'
import { cutText } from '../call/group-texts.ts'

/** Maximum length of all upstreams' instructions together, about 4,000 tokens. Many clients add them to each chat. */
const MAX_UPSTREAMS_CHARS = 16_000

/**
 * Merges a server's own description with the instructions of its upstreams, each below the upstream's name. `hide` masks
 * secrets. The sources of a server that reviews its upstreams have no instructions.
 */
export const mergeInstructions = (
  description: string | undefined,
  sources: readonly UpstreamSource[],
  hide: (text: string) => string,
): string | undefined => {
  let room = MAX_UPSTREAMS_CHARS
  const sections = sources.flatMap(({ upstream, stored }): string[] => {
    const text = hide(stored.catalogue.instructions ?? '').trim()
    if (text === '' || room === 0) return []
    const shown = cutText(text, room)
    room -= shown.length
    return [`## ${upstream.name}\n${shown}`]
  })
  const all = description === undefined ? sections : [description, ...sections]
  return all.length === 0 ? undefined : all.join('\n\n')
}
