/** One stage of a Dockerfile: its instructions in order, with continued lines joined and quotes kept. */
export type Stage = { name: string | undefined; instructions: { keyword: string; rest: string }[] }

/** Parses the parts of the Dockerfile format that our Dockerfile uses. */
export const parseDockerfile = (text: string): Stage[] => {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
  const stages: Stage[] = []
  for (const line of lines) {
    const [, keyword = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
    if (keyword === 'FROM') stages.push({ name: /\sAS\s+(\S+)$/i.exec(rest)?.[1], instructions: [] })
    else stages.at(-1)?.instructions.push({ keyword, rest })
  }
  return stages
}

export const allOf = ({ instructions }: Stage, keyword: string): string[] =>
  instructions.filter(instruction => instruction.keyword === keyword).map(({ rest }) => rest)

/** Returns the arguments of the only instruction with this keyword. Throws if there are several or none. */
export const onlyOf = (stage: Stage, keyword: string): string => {
  const [rest, ...others] = allOf(stage, keyword)
  if (rest === undefined || others.length > 0) throw new Error(`the Dockerfile should hold one ${keyword} here`)
  return rest
}

export type Copy = { from: string | undefined; sources: string[]; destination: string }

/** Parses `COPY [--from=stage] source… destination`. Without `--from`, the sources are in the checkout. */
export const parseCopy = (rest: string): Copy => {
  const words = rest.split(/\s+/)
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
  const destination = words.pop() ?? ''
  return { from, sources: words, destination }
}

export const parseEnvironment = (stage: Stage): Record<string, string> =>
  Object.fromEntries(
    allOf(stage, 'ENV')
      .flatMap(rest => rest.split(/\s+/))
      .map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )

/** Parses the words of an instruction in exec form, such as `CMD ["node", "app.js"]`. */
export const parseExec = (rest: string): string[] => {
  const words: string[] = JSON.parse(rest.slice(rest.indexOf('[')))
  return words
}
