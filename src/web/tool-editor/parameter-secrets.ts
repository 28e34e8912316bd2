import { z } from 'zod'
import type { Database } from '../../lib/db/client.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import { freeKey, writtenOriginOf } from '../../servers/bindings/taken-keys.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { Global, Instance } from '../../servers/server.ts'
import { listInstancesOfTool } from '../../servers/tools/instances.store.ts'
import { secretKeyOf } from '../../templates/check-value.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { Choice, EditorSubject } from './tool-editor-subject.ts'

/**
 * Where the chosen server has the value of a parameter that is kept as a secret. `isPlain`: the server has a global with
 * the key that is not a secret.
 */
export type SecretPlace = { state: 'missing' | 'stored'; server: Choice; key: string; isPlain: boolean }

/** The tool on the chosen server, with the bindings that it has there. */
export type ToolUse = { server: Choice; instance: Instance }

/** A parameter that has another binding on the server is not in it. */
export type SecretPlaces = ReadonlyMap<string, SecretPlace>

/** Values that were typed, by parameter. They are not part of the form, which is shown again. */
export type TypedSecrets = ReadonlyMap<string, string>

const Everything = z.record(z.string(), z.unknown()).catch({})

/** Returns the name of the field. It names the server, so that a value only goes to the server that the page showed. */
export const secretField = (serverId: string, parameter: string): string => `secret:${serverId}:${parameter}`

/** Reads the values that were typed for this server. */
export const readTypedSecrets = (body: unknown, serverId: string): TypedSecrets => {
  const prefix = secretField(serverId, '')
  return new Map(
    Object.entries(Everything.parse(body)).flatMap(([field, value]) =>
      field.startsWith(prefix) ? [[field.slice(prefix.length), formText.parse(value)] as const] : [],
    ),
  )
}

type Wanted = { name: string; key: string }

const placeOf = (
  { name, key: declared }: Wanted,
  url: string,
  globals: readonly Global[],
  server: Choice,
  use: ToolUse | undefined,
): SecretPlace | undefined => {
  const binding = use && bindingOf(use.instance.bindings, name)
  if (binding !== undefined && binding.source !== 'server') return undefined
  const key = binding === undefined ? freeKey(declared, url, globals) : (binding.key ?? name)
  const global = globals.find(one => one.key === key)
  const isPlain = global?.isSecret === false
  return { state: global?.isSecret === true ? 'stored' : 'missing', server, key, isPlain }
}

const refuse = (parameter: string, message: string): never => {
  throw new AppError('invalid_request', message, { errors: [{ path: `secrets.${parameter}`, message }] })
}

/** Codes of errors that have to do with the value. */
const OF_VALUE: ReadonlySet<string> = new Set(['invalid_request', 'limit_exceeded', 'conflict'])

const nameParameter =
  (parameter: string) =>
  (error: unknown): never => {
    if (!(error instanceof AppError) || !OF_VALUE.has(error.code)) throw error
    return refuse(parameter, error.message)
  }

/** Throws `invalid_request` if the field of this parameter is empty. */
export const assertTyped = (parameter: string, typed: TypedSecrets): void => {
  if (typed.get(parameter) === '') refuse(parameter, 'Enter the value.')
}

/** Finds and stores the secrets of the tool in the editor on the server whose values it is tried with. */
export const createParameterSecrets = ({
  db,
  globals,
}: {
  db: Database
  globals: Pick<GlobalService, 'listAllGlobals' | 'putGlobal'>
}) => {
  const findPlaces = (
    subject: EditorSubject,
    serverId: string,
    { url, parameters }: Pick<ToolDefinition, 'url' | 'parameters'>,
    known: readonly Global[],
    use: ToolUse | undefined,
  ): SecretPlaces => {
    const server = subject.servers.find(({ value }) => value === serverId)
    const wanted = Object.entries(parameters).flatMap(([name, { binding }]): Wanted[] => {
      const key = secretKeyOf(binding)
      return key === undefined ? [] : [{ name, key }]
    })
    if (server === undefined || wanted.length === 0) return new Map()
    return new Map(
      wanted.flatMap(one => {
        const place = placeOf(one, url, known, server, use)
        return place === undefined ? [] : [[one.name, place] as const]
      }),
    )
  }

  const findUse = async (subject: EditorSubject, serverId: string): Promise<ToolUse | undefined> => {
    const server = subject.servers.find(({ value }) => value === serverId)
    if (server === undefined || subject.kind !== 'tool') return undefined
    if (!subject.offers.some(offer => offer.serverId === serverId)) return undefined
    const [instance] = await listInstancesOfTool(db, serverId, subject.tool.id)
    return instance && { server, instance }
  }

  return {
    findPlaces,
    findUse,

    /**
     * Stores the typed values that the server lacks, each as a secret that may be sent only to the origin of the tool's
     * URL. If a parameter decides the origin, the first binding sets it. An error names the parameter.
     */
    store: async (
      actor: Actor,
      subject: EditorSubject,
      serverId: string,
      definition: Pick<ToolDefinition, 'url' | 'parameters'>,
      typed: TypedSecrets,
    ): Promise<void> => {
      if (![...typed.values()].some(value => value !== '')) return
      const isKnown = subject.servers.some(({ value }) => value === serverId)
      const known = isKnown ? await globals.listAllGlobals(actor, serverId) : []
      const places = findPlaces(subject, serverId, definition, known, await findUse(subject, serverId))
      const origin = writtenOriginOf(definition.url)
      for (const [name, place] of places) {
        const value = typed.get(name) ?? ''
        if (place.state !== 'missing' || value === '') continue
        const input = { value, secret: true, ...(origin !== undefined && { origins: [origin] }) }
        await globals.putGlobal(actor, serverId, place.key, input).catch(nameParameter(name))
      }
    },
  }
}
