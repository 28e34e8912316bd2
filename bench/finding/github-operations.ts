/**
 * Reads GitHub's operations from the types that its maintainers generate from the OpenAPI description. Of all the
 * packages with this description, only the one with the types is small enough for a development dependency. The parser
 * relies on the generator's line layout.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

type Parameter = { name: string; description: string; values: readonly string[] }
export type GithubOperation = { id: string; title: string; description: string; parameters: readonly Parameter[] }

const TYPES = fileURLToPath(import.meta.resolve('@octokit/openapi-types/types.d.ts'))

/** Members that contain parameters but are not parameters themselves. */
const CONTAINERS: ReadonlySet<string> = new Set(['path', 'query', 'header', 'content', 'cookie'])
const PROPERTY = /^( *)(?:"([^"]+)"|([\w$]+))\??: (.*)$/
const REFERENCE = /^components\["parameters"\]\["([^"]+)"\]/

const toValues = (type: string): string[] => [...type.matchAll(/"([^"]+)"(?!\])/g)].map(([, value = '']) => value)

type Line = { indent: number; name: string; type: string; comment: readonly string[] }

/** Returns the members, each with the comment above it. */
const readMembers = (lines: readonly string[]): Line[] => {
  const members: Line[] = []
  let comment: string[] = []
  let isComment = false
  for (const line of lines) {
    if (/^ *\/\*\*/.test(line)) {
      comment = []
      isComment = true
    }
    if (isComment) {
      const text = line
        .replace(/^ *(?:\/\*\*|\* ?)/, '')
        .replace(/\*\/$/, '')
        .trim()
      comment.push(text.replace(/^@description /, ''))
      isComment = !line.endsWith('*/')
      continue
    }
    const found = PROPERTY.exec(line)
    if (found === null) continue
    const [, blanks = '', quoted, plain, type = ''] = found
    members.push({ indent: blanks.length, name: quoted ?? plain ?? '', type, comment })
    comment = []
  }
  return members
}

const textOf = (comment: readonly string[]): string =>
  comment
    .filter(line => !line.startsWith('@'))
    .join('\n')
    .trim()

const sliceLines = (text: string, from: string, to: string): string[] => {
  const start = text.indexOf(from)
  return text.slice(start, text.indexOf(to, start)).split('\n')
}

const readShared = (text: string): ReadonlyMap<string, Line> => {
  const lines = sliceLines(text, '\n  parameters: {\n', '\n  };\n')
  return new Map(readMembers(lines).flatMap(line => (line.indent === 4 ? [[line.name, line]] : [])))
}

const toParameter = (line: Line, shared: ReadonlyMap<string, Line>): Parameter => {
  const reference = REFERENCE.exec(line.type)?.[1]
  const { comment, type } = (reference === undefined ? undefined : shared.get(reference)) ?? line
  return { name: line.name, description: textOf(comment), values: toValues(type) }
}

/** Path and query parameters are indented by 8 spaces, members of the body by 10. */
const isParameter = ({ indent, name }: Line): boolean =>
  (indent === 8 || indent === 10) && !CONTAINERS.has(name) && !name.includes('/')

export const listGithubOperations = (): GithubOperation[] => {
  const text = readFileSync(TYPES, 'utf8')
  const shared = readShared(text)
  const members = readMembers(sliceLines(text, '\nexport interface operations {', '\n}\n'))
  const operations: (GithubOperation & { parameters: Parameter[] })[] = []
  let isResponse = false
  for (const member of members) {
    if (member.indent === 2) {
      const [title = '', ...description] = member.comment
      const lines = title === '' ? description : member.comment
      operations.push({ id: member.name, title: lines[0] ?? '', description: textOf(lines.slice(1)), parameters: [] })
      isResponse = false
    } else if (member.indent === 4) isResponse = member.name === 'responses'
    else if (!isResponse && isParameter(member)) operations.at(-1)?.parameters.push(toParameter(member, shared))
  }
  return operations
}
