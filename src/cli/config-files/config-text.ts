/** A reference to a value that a configuration file does not contain itself. */
export type ConfigVariable = {
  kind: 'variable'
  /** The name of an environment variable, the id of a VS Code input, or the path of a file that holds the value. */
  name: string
  source: 'environment' | 'input' | 'file'
  /** The default value. */
  fallback?: string | undefined
  /** The tool's description of the value, shown when the user is asked for it. */
  about?: string | undefined
  /** Whether the tool hides the value while it is typed. Undefined if the tool does not specify it. */
  isSecret?: boolean | undefined
  /** The reference as written in the file. */
  written: string
}

export type ConfigPart = { kind: 'text'; text: string } | ConfigVariable

/** A string from a configuration file, split at its variables. */
export type ConfigText = readonly ConfigPart[]

/**
 * Variable syntax that only some tools support. All support `${NAME}`, `${NAME:-default}`, `${env:NAME}`,
 * `${input:name}` and `${file:path}`.
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
  /** Values that the tool itself fills in, by name, such as `userHome`. */
  known: ReadonlyMap<string, string>
  /** Values that the tool asks its user for, by input id. */
  inputs: ReadonlyMap<string, ConfigInput>
  /** Called for a reference that only the tool could fill in. */
  onUnknown: (written: string) => void
}

const NAME = '[A-Za-z_][A-Za-z0-9_]*'
const IN_BRACES = new RegExp(`^(?:env:)?(${NAME})(?::-?(.*))?$`, 's')
const INPUT = /^input:(.+)$/s
const FILE = /^file:(.+)$/s
/** Matches `${…}`, then `{env:…}` or `{file:…}`, then `$NAME`, with one group for each. */
const MARKS = new RegExp(String.raw`\$\{([^{}]*)\}|\{((?:env|file):[^{}]+)\}|\$(${NAME})`, 'g')

export const environmentVariable = (name: string, written: string, fallback?: string): ConfigVariable => ({
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
    return { kind: 'variable', name: input, source: 'input', ...inputs.get(input), written }
  }
  const path = FILE.exec(inner)?.[1]
  // A value that has its own file is most likely a secret.
  if (path !== undefined) return { kind: 'variable', name: path, source: 'file', written, isSecret: true }
  const [, name, fallback] = IN_BRACES.exec(inner) ?? []
  // Editors' own variables, such as `workspaceFolder`, match the pattern as well.
  if (name !== undefined && !TOOLS_OWN.has(name)) return environmentVariable(name, written, fallback)
  onUnknown(written)
  return { kind: 'text', text: written }
}

/** Names of variables that editors fill in. Their values are unknown for a file outside any project. */
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

/** Splits a string from a configuration file at its variables. Everything else stays as it is. */
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
    else parts.push(environmentVariable(bare ?? '', written))
    at = match.index + written.length
  }
  if (at < text.length) parts.push({ kind: 'text', text: text.slice(at) })
  return parts
}

/** Returns the text as a string, or undefined if it contains a variable. */
export const plainText = (text: ConfigText): string | undefined =>
  text.every(part => part.kind === 'text') ? text.map(part => part.text).join('') : undefined
