/** A value that a configuration does not hold itself, and who is to be asked for it. */
export type ConfigVariable = {
  kind: 'variable'
  /** The environment's variable, the name of what the tool asks its user for, or the path of a file that holds it. */
  name: string
  source: 'environment' | 'input' | 'file'
  /** What holds where nothing else is said. */
  fallback: string | undefined
  /** What the tool tells its user of it. */
  about?: string | undefined
  /** Whether the tool hides what is typed; undefined: it does not say. */
  isSecret?: boolean | undefined
  /** As the file has it. */
  written: string
}

export type ConfigPart = { kind: 'text'; text: string } | ConfigVariable

/** A text of a configuration file, taken apart at its variables. */
export type ConfigText = readonly ConfigPart[]

/**
 * How a tool writes variables, besides `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${input:name}` and `${file:path}`,
 * which all may.
 */
export type VariableSyntax = {
  /** `$NAME` */
  bareNames?: boolean
  /** `{env:NAME}`, `{file:path}` */
  singleBraces?: boolean
}

export type ConfigInput = Pick<ConfigVariable, 'fallback' | 'about' | 'isSecret'>

export type TextReader = {
  syntax: VariableSyntax
  /** What the tool itself fills in, such as `userHome`; by name. */
  known: ReadonlyMap<string, string>
  /** What the tool asks its user for, by id. */
  inputs: ReadonlyMap<string, ConfigInput>
  /** Hears of what stands in a text and only the tool could fill in. */
  onUnknown: (written: string) => void
}

const NAME = '[A-Za-z_][A-Za-z0-9_]*'
const IN_BRACES = new RegExp(`^(?:env:)?(${NAME})(?::-?(.*))?$`, 's')
const INPUT = /^input:(.+)$/s
const FILE = /^file:(.+)$/s
/** Of the dollar with braces, the single braces and the bare dollar, in this order. */
const MARKS = new RegExp(String.raw`\$\{([^{}]*)\}|\{((?:env|file):[^{}]+)\}|\$(${NAME})`, 'g')

const environment = (name: string, fallback: string | undefined, written: string): ConfigVariable => ({
  kind: 'variable',
  name,
  source: 'environment',
  fallback,
  written,
})

const readBraces = (inner: string, written: string, { known, inputs, onUnknown }: TextReader): ConfigPart => {
  const filled = known.get(inner)
  if (filled !== undefined) return { kind: 'text', text: filled }
  const input = INPUT.exec(inner)?.[1]
  if (input !== undefined) {
    return { kind: 'variable', name: input, source: 'input', fallback: undefined, ...inputs.get(input), written }
  }
  const path = FILE.exec(inner)?.[1]
  // Who keeps a value in a file of its own keeps it from being seen.
  if (path !== undefined) {
    return { kind: 'variable', name: path, source: 'file', fallback: undefined, written, isSecret: true }
  }
  const [, name, fallback] = IN_BRACES.exec(inner) ?? []
  // `workspaceFolder` and the like are words in small letters; nobody names a variable so.
  if (name !== undefined && !TOOLS_OWN.has(name)) return environment(name, fallback, written)
  onUnknown(written)
  return { kind: 'text', text: written }
}

/** Names that editors fill in, where they are not known here: of a file outside of any project. */
const TOOLS_OWN: ReadonlySet<string> = new Set([
  'workspaceFolder',
  'workspaceFolderBasename',
  'workspaceRoot',
  'file',
  'fileDirname',
  'cwd',
  'command',
  'config',
  'extensionPath',
])

/** Takes a text of a configuration apart at its variables. What is none of them stays as it is. */
export const readConfigText = (text: string, reader: TextReader): ConfigText => {
  const parts: ConfigPart[] = []
  let at = 0
  for (const match of text.matchAll(MARKS)) {
    const [written, braces, single, bare] = match
    if (single !== undefined && reader.syntax.singleBraces !== true) continue
    if (bare !== undefined && reader.syntax.bareNames !== true) continue
    if (match.index > at) parts.push({ kind: 'text', text: text.slice(at, match.index) })
    const inner = braces ?? single
    if (inner !== undefined) parts.push(readBraces(inner, written, reader))
    else parts.push(environment(bare ?? '', undefined, written))
    at = match.index + written.length
  }
  if (at < text.length) parts.push({ kind: 'text', text: text.slice(at) })
  return parts
}

/**
 * The text with every variable in its place that `read` knows, else its default; what nobody knows stays a variable.
 */
export const fillVariables = (text: ConfigText, read: (variable: ConfigVariable) => string | undefined): ConfigText =>
  text.map(part => {
    const value = part.kind === 'variable' ? (read(part) ?? part.fallback) : undefined
    return value === undefined ? part : { kind: 'text', text: value }
  })

/** The text where it holds no variable. */
export const plainText = (text: ConfigText): string | undefined =>
  text.every(part => part.kind === 'text') ? text.map(part => part.text).join('') : undefined
