import type { JsonValue } from '../../lib/kernel/json.ts'
import type { DefaultBinding } from '../../templates/check-value.ts'
import type { ParameterType } from '../../templates/template.ts'
import type { ParameterHead } from '../../tools/tool-outlines.ts'
import type { Binding, Bindings, Global } from '../server.ts'
import { bindingOf, globalKeysOf } from './bindings.ts'
import { findLacking, findUnboundDefault } from './default-bindings.ts'

/** Sources as users see them. A fixed value that contains a global or a secret has that as its source. */
export const SOCKET_SOURCES = ['fixed', 'global', 'secret', 'exposed'] as const
export type SocketSource = (typeof SOCKET_SOURCES)[number]

/** A parameter of an instance, and where its value comes from. */
export type Socket = {
  parameter: string
  type: ParameterType
  source: SocketSource
  /** The fixed value or the key of the global. Empty if the value comes from the model. Never the value of a secret. */
  text: string
  /** Keys of globals that the binding needs but that do not exist, or are not secret although they must be. */
  missing: readonly string[]
  /** The tool's default, if nobody has bound the parameter and it therefore comes from the model. */
  unboundDefault?: DefaultBinding | undefined
}

/** Maps each key to whether its global is a secret. */
export type KnownGlobals = ReadonlyMap<string, boolean>

export const knownGlobalsOf = (globals: readonly Global[]): KnownGlobals =>
  new Map(globals.map(({ key, isSecret }) => [key, isSecret]))

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

/** Returns the parameters in the tool's order, each with the source of its value. */
export const socketsOf = (
  parameters: readonly ParameterHead[],
  bindings: Bindings,
  globals: KnownGlobals,
): readonly Socket[] =>
  parameters.map(parameter => {
    const { name, type } = parameter
    const binding = bindingOf(bindings, name)
    const keys = globalKeysOf(name, binding)
    const lacking = findLacking(parameter, binding, key => globals.get(key))
    // An optional parameter that lacks its default is left out of the request.
    const unset =
      lacking?.isNeeded === true ? new Set([lacking.key, ...[...keys].filter(key => !globals.has(key))]) : []
    return {
      parameter: name,
      type,
      source: sourceOf(binding, keys, globals),
      text: textOf(name, binding),
      missing: [...unset],
      unboundDefault: findUnboundDefault(parameter, bindings),
    }
  })
