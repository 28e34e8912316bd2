import { isDeepStrictEqual } from 'node:util'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import { fixedText } from '../../servers/bindings/sockets.ts'
import type { Binding } from '../../servers/server.ts'
import type { DefaultBinding } from '../../templates/check-value.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { globalPath } from '../globals/globals.view.ts'
import { type SecretPlace, secretField } from './parameter-secrets.ts'
import type { EditorState } from './tool-editor-state.ts'

/** Shows where the value of a parameter that is kept as a secret is, or asks for it. `place` is on the chosen server. */
export const toSecretView = (name: string, place: SecretPlace | undefined, errors: readonly string[]) => {
  if (place === undefined) return { state: 'later' as const }
  const { server, key, isPlain } = place
  return place.state === 'stored'
    ? { state: place.state, server: server.text, key, href: globalPath(server.value, key) }
    : { state: place.state, server: server.text, key, isPlain, field: secretField(server.value, name), errors }
}

const toSource = (name: string, binding: Binding, globals: EditorState['globals']) => {
  if (binding.source === 'exposed') return { source: 'exposed' }
  if (binding.source === 'instance') return { source: 'fixed', text: fixedText(binding.value) }
  const key = binding.key ?? name
  return { source: globals.find(one => one.key === key)?.isSecret ? 'secret' : 'global', text: key }
}

/** Returns whether a binding is as declared. A secret may have another key on the server, which its own line says. */
const isSame = (name: string, binding: Binding, declared: DefaultBinding | undefined): boolean => {
  if (declared === undefined) return binding.source === 'exposed'
  if (declared.source === 'instance')
    return binding.source === 'instance' && isDeepStrictEqual(binding.value, declared.value)
  return binding.source === 'server' && (declared.secret || (binding.key ?? name) === declared.key)
}

/**
 * Returns what the chosen server binds the parameter to, unless that is what the tool says. Default bindings only apply
 * when a tool is added.
 */
export const toBindingThere = (name: string, { use, read, globals }: EditorState) => {
  if (use === undefined) return undefined
  const declared = read.definition.parameters[name]?.binding
  const binding = bindingOf(use.instance.bindings, name)
  if (isSame(name, binding, declared)) return undefined
  const href = `${serverTabPath(use.server.value, 'tools')}/${use.instance.id}`
  return { server: use.server.text, href, ...toSource(name, binding, globals) }
}

/** Returns whether the value comes from the model: on the chosen server if it has the tool, and otherwise by default. */
export const isFromModel = (name: string, { use, read }: EditorState): boolean =>
  use === undefined
    ? read.definition.parameters[name]?.binding === undefined
    : bindingOf(use.instance.bindings, name).source === 'exposed'
