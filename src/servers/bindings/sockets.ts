import type { JsonValue } from '../../lib/kernel/json.ts'
import type { ParameterType } from '../../templates/template.ts'
import type { ParameterHead } from '../../tools/tool-outlines.ts'
import type { Binding, Bindings, Global } from '../server.ts'
import { bindingOf, globalKeysOf } from './bindings.ts'

/** The four sources as people are told of them; a fixed value that a global or a secret is part of is theirs. */
export const SOCKET_SOURCES = ['fixed', 'global', 'secret', 'exposed'] as const
export type SocketSource = (typeof SOCKET_SOURCES)[number]

/** One parameter of one tool at work, and where its value comes from. */
export type Socket = {
  parameter: string
  type: ParameterType
  source: SocketSource
  /** The fixed value as it is kept, or the global's key; empty where the caller gives it. Never a secret's value. */
  text: string
  /** Keys of globals that it reads and that are not there. */
  missing: readonly string[]
}

/** By key, whether it is a secret. */
export type KnownGlobals = ReadonlyMap<string, boolean>

export const knownGlobalsOf = (globals: readonly Global[]): KnownGlobals =>
  new Map(globals.map(({ key, isSecret }) => [key, isSecret]))

/** A kept value as the text that a field shows. */
export const fixedText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

const sourceOf = (binding: Binding, keys: ReadonlySet<string>, globals: KnownGlobals): SocketSource => {
  if (binding.source === 'exposed') return 'exposed'
  if ([...keys].some(key => globals.get(key) === true)) return 'secret'
  return binding.source === 'server' || keys.size > 0 ? 'global' : 'fixed'
}

const textOf = (parameter: string, binding: Binding): string => {
  switch (binding.source) {
    case 'instance':
      return fixedText(binding.value)
    case 'server':
      return binding.key ?? parameter
    case 'exposed':
      return ''
  }
}

/** The parameters in the order of the tool's own, each with where its value comes from. */
export const socketsOf = (
  parameters: readonly ParameterHead[],
  bindings: Bindings,
  globals: KnownGlobals,
): readonly Socket[] =>
  parameters.map(({ name, type }) => {
    const binding = bindingOf(bindings, name)
    const keys = globalKeysOf(name, binding)
    return {
      parameter: name,
      type,
      source: sourceOf(binding, keys, globals),
      text: textOf(name, binding),
      missing: [...keys].filter(key => !globals.has(key)),
    }
  })
