import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ImportedOperation, MappedOperation } from '../../../src/imports/openapi/imported-operation.ts'
import type { ReadOutcome } from '../../../src/imports/read-description.ts'
import type { JsonObject } from '../../../src/lib/kernel/json.ts'
import { type ApiClient, makeServer } from '../../support/api-client.ts'
import { document, isTool, readAll } from '../reading.ts'
import { ARGUMENTS_OF_BODIES } from './arguments-of-bodies.ts'
import { ARGUMENTS_OF_URLS } from './arguments-of-urls.ts'
import { deriveArguments } from './derive-arguments.ts'
import { expectationOf, reasonToBeWrong, reasonToLeaveOut } from './expectations.ts'
import type { TestServer } from './test-server.ts'

/** What became of a call of an operation that counts. `status` is undefined if the request was not sent. */
export type Called = {
  /** Description, operationId and, if the operation has several scenarios, their number: `url paths_enumValid`. */
  key: string
  operation: MappedOperation
  args: JsonObject
  status: number | undefined
  text: string
}

/** The secrets that the scenarios want, by their keys. */
const SECRETS: Readonly<Record<string, string>> = {
  azure_key: '123456789',
  aad_token: 'https://security.microsoft.com/.default',
}

/** The paths of base URLs that a description does not say, because their host is a variable. */
const BASE_PATHS: Readonly<Record<string, string>> = {
  'multiapi-v1-custom-base-url': '/multiapiCustomBaseUrl/v1',
  'multiapi-v2-custom-base-url': '/multiapiCustomBaseUrl/v2',
}

const listArguments = async (
  name: string,
  operation: MappedOperation,
  { origin }: TestServer,
  hasGet: boolean,
): Promise<readonly JsonObject[]> => {
  const id = operation.operationId ?? ''
  const given = ARGUMENTS_OF_URLS[name]?.[id] ?? ARGUMENTS_OF_BODIES[name]?.[id]
  const derived = await deriveArguments(operation, hasGet && given === undefined ? origin : undefined)
  return [given ?? {}].flat().map(one => ({ ...derived, ...one }))
}

/** Creates a server with the tools, and sets its globals to the values that the description proposes. */
const install = async (
  api: ApiClient,
  tools: readonly MappedOperation[],
  { baseUrls, origin, path = '' }: ReadOutcome & { origin: string; path: string | undefined },
): Promise<string> => {
  const { serverId, url } = await makeServer(
    api,
    tools.map(({ tool }) => tool),
  )
  const values = new Map(baseUrls.map(({ key, value }) => [key, value ?? origin + path]))
  for (const key of new Set(tools.flatMap(({ globals }) => globals))) {
    const value = values.get(key)
    const global =
      value === undefined ? { value: SECRETS[key] ?? 'secret', secret: true, origins: [origin] } : { value }
    await api.expectOk('PUT', `/servers/${serverId}/globals/${key}`, global)
  }
  return url
}

/** Returns the status from the result's text: an error begins with it, and other results are those of a success. */
const statusOf = (text: string, isError: boolean): number | undefined => {
  const [, status] = /^HTTP (\d{3})\b/.exec(text) ?? []
  if (status !== undefined) return Number(status)
  return isError ? undefined : 200
}

const callOnce = async (client: Client, name: string, args: JsonObject) => {
  const { content, isError } = await client.callTool({ name, arguments: args })
  const [block] = content
  const text = block?.type === 'text' ? block.text : ''
  return { text, status: statusOf(text, isError === true) }
}

/** Imports a description of the test server, and calls its tools through the official client. */
export const callOperations = async (name: string, server: TestServer, api: ApiClient): Promise<readonly Called[]> => {
  const { operations, outcome } = await readAll([document(server.read(name), `${name}.json`)])
  const odd = operations.filter(one => 'reason' in one && !/file/.test(one.reason))
  if (odd.length > 0) throw new Error(`${name}: ${JSON.stringify(odd)}`)
  const keyOf = (operation: ImportedOperation): string => `${name} ${operation.operationId ?? operation.key}`
  const tools = operations.filter(isTool).filter(one => reasonToLeaveOut(keyOf(one), one) === undefined)
  if (tools.length === 0) return []
  const url = await install(api, tools, { ...outcome, origin: server.origin, path: BASE_PATHS[name] })
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const called: Called[] = []
  for (const operation of tools) {
    const key = keyOf(operation)
    const hasGet = operations.some(({ method, path }) => method === 'GET' && path === operation.path)
    const list = await listArguments(name, operation, server, hasGet)
    for (const [index, args] of list.entries()) {
      const one = list.length === 1 ? key : `${key} ${index + 1}`
      called.push({ key: one, operation, args, ...(await callOnce(client, operation.tool.name, args)) })
    }
  }
  await client.close()
  return called
}

/** Returns whether a call ended as its scenario wants. */
const isRight = ({ key, operation, status }: Called): boolean => {
  const expected = expectationOf(key, operation)
  if (expected === 'refused') return status === undefined
  return expected === 'accepted' ? status !== undefined && status < 300 : status === expected
}

export type Verdict = { key: string; isRight: boolean; isKnown: boolean; calls: readonly Called[] }

/** Returns for each operation whether all of its calls ended as they should, and whether that is as expected. */
export const judge = (called: readonly Called[]): readonly Verdict[] => {
  const byOperation = Map.groupBy(called, ({ operation }) => operation)
  return [...byOperation.values()].map(calls => {
    const key = calls[0]?.key.replace(/ \d$/, '') ?? ''
    const isOperationRight = calls.every(isRight)
    const isKnown = isOperationRight === (reasonToBeWrong(key) === undefined)
    return { key, isRight: isOperationRight, isKnown, calls }
  })
}
