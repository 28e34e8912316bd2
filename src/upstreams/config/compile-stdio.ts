import { isAbsolute } from 'node:path'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { MAX_ARGUMENT_CHARS, MAX_ARGUMENTS, MAX_PATH_CHARS, MAX_VARIABLE_NAME_CHARS, MAX_VARIABLES } from '../limits.ts'
import type { StdioConfig } from '../upstream.ts'
import type { CompiledConfig, ResolutionFault } from './compiled-config.ts'
import { fillText, keysIn, parseReferences, type TextPart } from './references.ts'

/** POSIX (IEEE Std 1003.1, 8.1). */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** A parsed string from the configuration. `parts` is empty if the string is invalid. */
type Field = { path: string; parts: readonly TextPart[] }

const startsWithGlobal = ({ parts }: Field): boolean => parts[0]?.kind === 'global'

const invalidValue = (message: string): Result<never, ResolutionFault> => failure({ reason: 'unfit_value', message })

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
  if (withNul !== undefined)
    return invalidValue(`A global in ${withNul.path} contains a NUL character, which commands do not accept.`)
  if (filled.command.trim() === '') return invalidValue('The command is empty once its globals are filled in.')
  if (filled.cwd !== undefined && !isAbsolute(filled.cwd)) {
    return invalidValue('The working directory is not an absolute path once its globals are filled in.')
  }
  return success(filled)
}

const isVariableName = (name: string): boolean => name.length <= MAX_VARIABLE_NAME_CHARS && VARIABLE_NAME.test(name)

const readFields = ({ command, args, env, cwd }: StdioConfig) => {
  const errors: FieldError[] = []
  const fields: Field[] = []
  const addError = (path: string, message: string): void => {
    errors.push({ path, message })
  }
  const read = (path: string, text: string, maxChars: number): Field => {
    if (text.length > maxChars) addError(path, `is longer than ${maxChars} characters`)
    if (text.includes('\0')) addError(path, 'contains a NUL character')
    const parsed = parseReferences(text)
    if (!parsed.ok) addError(path, parsed.error)
    const field: Field = { path, parts: parsed.ok ? parsed.value : [] }
    fields.push(field)
    return field
  }
  const texts: Fields = {
    command: read('command', command, MAX_PATH_CHARS),
    args: args.map((text, index) => read(`args[${index}]`, text, MAX_ARGUMENT_CHARS)),
    env: Object.entries(env).map(([name, value]) => [name, read(`env.${name}`, value, MAX_ARGUMENT_CHARS)]),
    cwd: cwd === undefined ? undefined : read('cwd', cwd, MAX_PATH_CHARS),
    all: fields,
  }
  if (command.trim() === '') addError('command', 'is empty')
  if (args.length > MAX_ARGUMENTS) addError(`args[${MAX_ARGUMENTS}]`, `exceeds the maximum of ${MAX_ARGUMENTS}`)
  const names = Object.keys(env)
  const excess = names[MAX_VARIABLES]
  if (excess !== undefined) addError(`env.${excess}`, `exceeds the maximum of ${MAX_VARIABLES}`)
  for (const name of names.filter(each => !isVariableName(each))) {
    const rule = 'is not a valid variable name: use letters, digits and _, not starting with a digit'
    addError(`env.${name.slice(0, MAX_VARIABLE_NAME_CHARS)}`, rule)
  }
  if (texts.cwd !== undefined && cwd !== undefined && !startsWithGlobal(texts.cwd) && !isAbsolute(cwd)) {
    addError('cwd', 'must be an absolute path')
  }
  return { errors, texts }
}

/** Checks a command and its settings. Returns all errors at once. */
export const compileStdio = (config: StdioConfig): Result<CompiledConfig<StdioConfig>, readonly FieldError[]> => {
  const { errors, texts } = readFields(config)
  if (errors.length > 0) return failure(errors)
  return success({
    globals: new Set(texts.all.flatMap(({ parts }) => keysIn(parts))),
    // Secrets are passed only to a local process that the operator chose.
    findSecretAtRisk: () => undefined,
    listOrigins: () => [],
    fill: readGlobal => fillStdio(texts, readGlobal),
  })
}
