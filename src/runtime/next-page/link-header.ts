const TARGET = /[\s,]*<([^>]*)>/y
const PARAMETER = /\s*;\s*(?:([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?)?/y

type Link = { target: string; parameters: ReadonlyMap<string, string> }

/** Reads the links of a header, up to one that is malformed. Takes linear time, because the header is untrusted. */
const readLinks = (header: string): Link[] => {
  const links: Link[] = []
  for (let at = 0; ; ) {
    TARGET.lastIndex = at
    const [, target] = TARGET.exec(header) ?? []
    if (target === undefined) return links
    at = TARGET.lastIndex
    const parameters = new Map<string, string>()
    for (;;) {
      PARAMETER.lastIndex = at
      const found = PARAMETER.exec(header)
      if (found === null) break
      at = PARAMETER.lastIndex
      const [, name, quoted, plain = ''] = found
      const key = name?.toLowerCase()
      // Only the first occurrence of a parameter counts (RFC 8288 §3.3).
      if (key !== undefined && !parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain)
    }
    links.push({ target, parameters })
  }
}

/**
 * Returns the target of the first link to the next page in a `Link` header: a URI reference (RFC 8288). Ignores links
 * from other resources than the response (`anchor`).
 */
export const findNextLink = (header: string): string | undefined =>
  readLinks(header).find(
    ({ parameters }) =>
      !parameters.has('anchor') && parameters.get('rel')?.toLowerCase().split(/\s+/).includes('next') === true,
  )?.target
