import { z } from 'zod'
import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { isJsonObject } from '../../lib/kernel/json.ts'
import { toBindingOf } from '../../servers/bindings/binding-checks.ts'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import { fixedText, type KnownGlobals } from '../../servers/bindings/sockets.ts'
import type { Bindings, Instance } from '../../servers/server.ts'
import type { CheckedParameter } from '../../templates/checked-parameters.ts'

/** Of the choice of a global: one that is made with the form. */
export const NEW_GLOBAL = '+'

const SOURCES = ['exposed', 'global', 'fixed'] as const

/** What is typed beside one parameter; what belongs to another source than the chosen one is kept, and not used. */
export type TypedParameter = {
  source: (typeof SOURCES)[number]
  fixed: string
  /** The key of a global, or NEW_GLOBAL. */
  global: string
  key: string
  value: string
  isSecret: boolean
}

/** The form of one instance, as it is typed. `version` is when what the form began with was last changed. */
export type TypedInstance = {
  name: string
  description: string
  /** Tokens of an answer; empty: as the server says. */
  maxResponseTokens: string
  version: string
  parameters: ReadonlyMap<string, TypedParameter>
}

const nothingNew = { key: '', value: '', isSecret: false }

const typedFrom = (name: string, bindings: Bindings): TypedParameter => {
  const binding = bindingOf(bindings, name)
  const empty = { fixed: '', global: '', ...nothingNew }
  switch (binding.source) {
    case 'instance':
      return { ...empty, source: 'fixed', fixed: fixedText(binding.value) }
    case 'server':
      return { ...empty, source: 'global', global: binding.key ?? name }
    case 'exposed':
      return { ...empty, source: 'exposed' }
  }
}

/** The form of an instance as it is kept. */
export const typedOf = (instance: Instance, parameters: readonly CheckedParameter[]): TypedInstance => ({
  name: instance.name,
  description: instance.description ?? '',
  maxResponseTokens: instance.maxResponseTokens === undefined ? '' : String(instance.maxResponseTokens),
  version: instance.updatedAt.toISOString(),
  parameters: new Map(parameters.map(({ parameter: { name } }) => [name, typedFrom(name, instance.bindings)])),
})

const Heads = { name: formText, description: formText, maxResponseTokens: formText, version: formText }
const Source = z.enum(SOURCES).catch('exposed')

/** Reads what was sent: of each parameter that the tool has now. */
export const readTyped = (body: unknown, parameters: readonly CheckedParameter[]): TypedInstance => {
  const fields = isJsonObject(body) ? body : {}
  const text = (field: string) => formText.parse(fields[field])
  return {
    ...parseForm(Heads, body),
    parameters: new Map(
      parameters.map(({ parameter: { name } }) => [
        name,
        {
          source: Source.parse(fields[`source:${name}`]),
          // A browser sends line breaks as CR LF, whatever was typed.
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

/** The bindings that a form asks for. */
export const bindingsFrom = (typed: TypedInstance, parameters: readonly CheckedParameter[]): Bindings =>
  Object.fromEntries(
    parameters.flatMap(parameter => {
      const { name } = parameter.parameter
      const one = typed.parameters.get(name)
      if (one === undefined || one.source === 'exposed') return []
      const key = one.global === NEW_GLOBAL ? one.key : one.global
      const wanted =
        one.source === 'fixed' ? ({ source: 'fixed', text: one.fixed } as const) : ({ source: 'global', key } as const)
      return [[name, toBindingOf(parameter, wanted)]]
    }),
  )

export type NewGlobal = { parameter: string; key: string; value: string; secret: boolean }

/** The globals that a form makes; two parameters may ask for the same one, made by the first. */
export const newGlobalsFrom = (typed: TypedInstance): NewGlobal[] => {
  const made = new Map<string, NewGlobal>()
  for (const [parameter, { source, global, key, value, isSecret }] of typed.parameters) {
    if (source !== 'global' || global !== NEW_GLOBAL || made.has(key)) continue
    made.set(key, { parameter, key, value, secret: isSecret })
  }
  return [...made.values()]
}

/** The globals as they would be once the form is saved. */
export const globalsWith = (globals: KnownGlobals, added: readonly NewGlobal[]): KnownGlobals =>
  new Map([...globals, ...added.map(({ key, secret }) => [key, secret] as const)])

/** Throws `invalid_request` where a global is to be given and none is chosen, before anything is written. */
export const assertGlobalsChosen = (typed: TypedInstance): void => {
  const errors = [...typed.parameters].flatMap(([parameter, { source, global }]) =>
    source === 'global' && global === ''
      ? [{ path: `bindings.${parameter}`, message: 'Choose a global, or make one.' }]
      : [],
  )
  if (errors.length > 0) throw new AppError('invalid_request', 'Not every global is chosen.', { errors })
}
