import { isAbsolute } from 'node:path'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { MAX_ARGUMENT_CHARS, MAX_ARGUMENTS, MAX_PATH_CHARS, MAX_VARIABLE_NAME_CHARS, MAX_VARIABLES } from '../limits.ts'
import type { StdioConfig } from '../upstream.ts'
import type { CompiledConfig, ResolutionFault } from './compiled-config.ts'
import { fillText, keysIn, parseReferences, type TextPart } from './references.ts'

/** As every shell and POSIX take it (IEEE Std 1003.1, 8.1). */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** A text of the configuration, taken apart; empty where it cannot be, which stands in `errors`. */
type Field = { path: string; parts: readonly TextPart[] }

type Complain = (path: string, message: string) => void

const createFieldReader = () => {
  const errors: FieldError[] = []
  const fields: Field[] = []
  const complain: Complain = (path, message) => {
    errors.push({ path, message })
  }
  const read = (path: string, text: string, maxChars: number): Field => {
    const field: { path: string; parts: readonly TextPart[] } = { path, parts: [] }
    fields.push(field)
    if (text.length > maxChars) complain(path, `is longer than ${maxChars} characters`)
    if (text.includes('\0')) complain(path, 'holds a NUL character')
    const parsed = parseReferences(text)
    if (parsed.ok) field.parts = parsed.value
    else complain(path, parsed.error)
    return field
  }
  return { errors, fields, complain, read }
}

const beginsWithGlobal = ({ parts }: Field): boolean => parts[0]?.kind === 'global'

const unfit = (message: string): Result<never, ResolutionFault> => failure({ reason: 'unfit_value', message })

type Fields = {
  command: Field
  args: readonly Field[]
  env: readonly (readonly [name: string, value: Field])[]
  cwd: Field | undefined
  all: readonly Field[]
}

const fillStdio = ({ command, args, env, cwd, all }: Fields, readGlobal: (key: string) => string) => {
  const fill = ({ parts }: Field): string => fillText(parts, readGlobal)
  const filled: StdioConfig = {
    transport: 'stdio',
    command: fill(command),
    args: args.map(fill),
    env: Object.fromEntries(env.map(([name, value]) => [name, fill(value)])),
    cwd: cwd && fill(cwd),
  }
  const withNul = all.find(field => fill(field).includes('\0'))
  if (withNul !== undefined) return unfit(`A global in ${withNul.path} holds a NUL character, which no command takes.`)
  if (filled.command.trim() === '') return unfit('The command is empty once its globals are filled in.')
  if (filled.cwd !== undefined && !isAbsolute(filled.cwd)) {
    return unfit('The working directory is no absolute path once its globals are filled in.')
  }
  return success(filled)
}

const checkVariables = (names: readonly string[], complain: Complain): void => {
  const excess = names[MAX_VARIABLES]
  if (excess !== undefined) complain(`env.${excess}`, `is one too many: ${MAX_VARIABLES} at most`)
  for (const name of names) {
    if (name.length <= MAX_VARIABLE_NAME_CHARS && VARIABLE_NAME.test(name)) continue
    const rule = 'is no name of a variable: a letter or _, then letters, digits and _'
    complain(`env.${name.slice(0, MAX_VARIABLE_NAME_CHARS)}`, rule)
  }
}

const readFields = ({ command, args, env, cwd }: StdioConfig) => {
  const { errors, fields, complain, read } = createFieldReader()
  const texts: Fields = {
    command: read('command', command, MAX_PATH_CHARS),
    args: args.map((text, index) => read(`args[${index}]`, text, MAX_ARGUMENT_CHARS)),
    env: Object.entries(env).map(([name, value]) => [name, read(`env.${name}`, value, MAX_ARGUMENT_CHARS)]),
    cwd: cwd === undefined ? undefined : read('cwd', cwd, MAX_PATH_CHARS),
    all: fields,
  }
  if (command.trim() === '') complain('command', 'is empty')
  if (args.length > MAX_ARGUMENTS) complain(`args[${MAX_ARGUMENTS}]`, `is one too many: ${MAX_ARGUMENTS} at most`)
  checkVariables(Object.keys(env), complain)
  if (texts.cwd !== undefined && cwd !== undefined && !beginsWithGlobal(texts.cwd) && !isAbsolute(cwd)) {
    complain('cwd', 'is no absolute path')
  }
  return { errors, texts }
}

/** Checks a command and all that goes with it. Errors are told all at once. */
export const compileStdio = (config: StdioConfig): Result<CompiledConfig<StdioConfig>, readonly FieldError[]> => {
  const { errors, texts } = readFields(config)
  if (errors.length > 0) return failure(errors)
  return success({
    globals: new Set(texts.all.flatMap(({ parts }) => keysIn(parts))),
    // It goes to a process of this machine that the operator chose.
    findSecretAtRisk: () => undefined,
    fill: readGlobal => fillStdio(texts, readGlobal),
  })
}
