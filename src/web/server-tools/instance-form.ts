import { z } from 'zod'
import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { isJsonObject } from '../../lib/kernel/json.ts'
import { toBindingOf } from '../../servers/bindings/binding-checks.ts'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import { fixedText, type KnownGlobals } from '../../servers/bindings/sockets.ts'
import type { Binding, Bindings, Instance } from '../../servers/server.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'

/** Value of the select option that creates a new global when the form is saved. */
export const NEW_GLOBAL = '+'

const SOURCES = ['exposed', 'global', 'fixed'] as const

/** The form fields of one parameter. Fields that belong to a source other than the chosen one are kept but not used. */
export type ParameterForm = {
  source: (typeof SOURCES)[number]
  fixed: string
  /** Key of an existing global, or `NEW_GLOBAL`. */
  global: string
  key: string
  value: string
  isSecret: boolean
}

/** The form as filled in. `version` is the time of the last change before the form was opened. */
export type InstanceForm = {
  name: string
  description: string
  /** Maximum tokens of a result. If empty, the server's setting applies. */
  maxResponseTokens: string
  version: string
  parameters: ReadonlyMap<string, ParameterForm>
}

const toParameterForm = (name: string, bindings: Bindings): ParameterForm => {
  const binding = bindingOf(bindings, name)
  const empty = { fixed: '', global: '', key: '', value: '', isSecret: false }
  switch (binding.source) {
    case 'instance':
      return { ...empty, source: 'fixed', fixed: fixedText(binding.value) }
    case 'server':
      return { ...empty, source: 'global', global: binding.key ?? name }
    case 'exposed':
      return { ...empty, source: 'exposed' }
  }
}

/** Fills the form from a stored instance. */
export const toInstanceForm = (instance: Instance, parameters: readonly CheckedParameter[]): InstanceForm => ({
  name: instance.name,
  description: instance.description ?? '',
  maxResponseTokens: instance.maxResponseTokens === undefined ? '' : String(instance.maxResponseTokens),
  version: instance.updatedAt.toISOString(),
  parameters: new Map(parameters.map(({ parameter: { name } }) => [name, toParameterForm(name, instance.bindings)])),
})

const Heads = { name: formText, description: formText, maxResponseTokens: formText, version: formText }
const Source = z.enum(SOURCES).catch('exposed')

/** Reads the submitted form, using the tool's current parameters. */
export const readInstanceForm = (body: unknown, parameters: readonly CheckedParameter[]): InstanceForm => {
  const fields = isJsonObject(body) ? body : {}
  const text = (field: string) => formText.parse(fields[field])
  return {
    ...parseForm(Heads, body),
    parameters: new Map(
      parameters.map(({ parameter: { name } }) => [
        name,
        {
          source: Source.parse(fields[`source:${name}`]),
          // Browsers send line breaks as CR LF.
          fixed: text(`fixed:${name}`).replaceAll('\r\n', '\n'),
          global: text(`global:${name}`),
          key: text(`key:${name}`).trim(),
          value: text(`value:${name}`),
          isSecret: text(`secret:${name}`) === 'on',
        },
      ]),
    ),
  }
}

export const bindingsFrom = (typed: InstanceForm, parameters: readonly CheckedParameter[]): Bindings =>
  Object.fromEntries(
    parameters.flatMap((parameter): [string, Binding][] => {
      const { name } = parameter.parameter
      const one = typed.parameters.get(name)
      if (one === undefined) return []
      // Without a binding of its own, the instance would have the tool's default.
      if (one.source === 'exposed') return parameter.meta.binding ? [[name, { source: 'exposed' }]] : []
      const key = one.global === NEW_GLOBAL ? one.key : one.global
      const wanted =
        one.source === 'fixed' ? ({ source: 'fixed', text: one.fixed } as const) : ({ source: 'global', key } as const)
      return [[name, toBindingOf(parameter, wanted)]]
    }),
  )

export type NewGlobal = { parameter: string; key: string; value: string; secret: boolean }

/** Returns the globals to create. If two parameters specify the same key, the first value is used. */
export const newGlobalsFrom = (typed: InstanceForm): NewGlobal[] => {
  const created = new Map<string, NewGlobal>()
  for (const [parameter, { source, global, key, value, isSecret }] of typed.parameters) {
    if (source !== 'global' || global !== NEW_GLOBAL || created.has(key)) continue
    created.set(key, { parameter, key, value, secret: isSecret })
  }
  return [...created.values()]
}

/** Returns the globals as they will be after the form is saved. */
export const globalsWith = (globals: KnownGlobals, added: readonly NewGlobal[]): KnownGlobals =>
  new Map([...globals, ...added.map(({ key, secret }) => [key, secret] as const)])

/** Throws `invalid_request` if a parameter is to be bound to a global but none is chosen. */
export const assertGlobalsChosen = (typed: InstanceForm): void => {
  const errors = [...typed.parameters].flatMap(([parameter, { source, global }]) =>
    source === 'global' && global === ''
      ? [{ path: `bindings.${parameter}`, message: 'Choose a global or create one.' }]
      : [],
  )
  if (errors.length > 0)
    throw new AppError('invalid_request', 'Choose a global for each parameter marked below.', { errors })
}
