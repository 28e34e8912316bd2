/** Parses the tree that Fastify prints without common prefixes. Returns `METHOD /path` for every route. */
export const readRoutes = (tree: string): string[] => {
  const parts: string[] = []
  return tree.split('\n').flatMap(line => {
    const found = /^(?<branch>[│├└─ ]*)(?<part>\S+?)(?: \((?<methods>[A-Z, ]+)\))?(?: (?<constraints>\{.*\}))?$/u.exec(
      line,
    )?.groups
    if (found === undefined) return []
    const { branch = '', part = '', methods = '', constraints } = found
    parts.splice(branch.length / 4 - 1, parts.length, part)
    const suffix = constraints === undefined ? '' : ' for people'
    return methods === '' ? [] : methods.split(', ').map(method => `${method} ${parts.join('')}${suffix}`)
  })
}
