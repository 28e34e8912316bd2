import { z } from 'zod'
import type { StoredExecution } from '../../history/executions.store.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { RESERVED_TOOL_PREFIX } from '../../lib/kernel/names.ts'
import type { BodyLimits } from '../../mcp/body.ts'
import type { InProcessClient, ListedTool } from '../../mcp/in-process-client.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import { fixedText } from '../../servers/bindings/sockets.ts'
import { type ArgumentField, parseArguments, toFields } from '../inspector/argument-form.ts'
import { toFieldView, toResultView } from '../inspector/inspector.view.ts'
import { SAMPLE_TOOL } from './first-run.ts'

export type FirstCallParts = {
  inspectorClient: InProcessClient
  execution: Pick<ExecutionService, 'getExecution'>
  settings: { limits: BodyLimits }
}

/** Tools that can be chosen on the page. The inspector has all of them. */
const MAX_CHOICES = 12

/** Arguments of the sample's tools to begin with. */
const SAMPLE_ARGUMENTS: Readonly<Record<string, string>> = { from: 'EUR', to: 'JPY', amount: '100' }

const Form = z.record(z.string(), z.unknown()).catch({})

const requiredOf = (tool: ListedTool): number => (toFields(tool.inputSchema) ?? []).filter(one => one.isRequired).length

/** Returns the tool to call: the wanted one, or else the first with the fewest required arguments. */
const chooseTool = (tools: readonly ListedTool[], wanted: string): ListedTool | undefined =>
  tools.find(({ name }) => name === wanted) ?? tools.toSorted((one, other) => requiredOf(one) - requiredOf(other)).at(0)

/** Returns the value that a field has at first: the example or the default of its schema. */
const initialValue = ({ name, schema }: ArgumentField, isSample: boolean): string => {
  const ofSample = isSample ? SAMPLE_ARGUMENTS[name] : undefined
  if (ofSample !== undefined) return ofSample
  const [example] = Array.isArray(schema.examples) ? schema.examples : []
  const value = example ?? schema.default
  return value === undefined || value === null ? '' : fixedText(value)
}

type Typed = { of: (field: ArgumentField) => string; errors: ReadonlyMap<string, string> }

const toCallView = (tools: readonly ListedTool[], tool: ListedTool, typed: Typed) => {
  const fields = toFields(tool.inputSchema)
  const byName = new Map(fields?.map(field => [field.name, typed.of(field)]))
  return {
    tool: tool.name,
    description: tool.description ?? '',
    /** Undefined if only the inspector can call the tool. */
    fields: fields?.map(toFieldView(name => byName.get(name) ?? '', typed.errors)),
    others: tools
      .filter(({ name }) => name !== tool.name)
      .map(({ name }) => name)
      .slice(0, MAX_CHOICES),
  }
}
export type CallView = ReturnType<typeof toCallView>

/** Calls the tools of the server of the first run, as the inspector does. */
export const createFirstCall = ({ inspectorClient, execution, settings: { limits } }: FirstCallParts) => {
  const open = async (actor: Actor, serverId: string, wanted: string) => {
    const connection = await inspectorClient.connect(serverId, actor)
    const listed = await connection.listTools()
    const tools = listed.filter(({ name }) => !name.startsWith(RESERVED_TOOL_PREFIX))
    return { connection, tools, tool: chooseTool(tools, wanted) }
  }

  /** Returns the record of a call, or undefined if it cannot be read, because the result is shown all the same. */
  const findRecord = async (actor: Actor, id: string | undefined): Promise<StoredExecution | undefined> => {
    try {
      return id === undefined ? undefined : await execution.getExecution(actor, id)
    } catch (error) {
      if (error instanceof AppError) return undefined
      throw error
    }
  }

  return {
    /** Returns the form for calling a tool; undefined if the server lists none. */
    show: async (actor: Actor, serverId: string, wanted: string): Promise<CallView | undefined> => {
      const { tools, tool } = await open(actor, serverId, wanted)
      const of = (field: ArgumentField): string => initialValue(field, wanted === SAMPLE_TOOL)
      return tool && toCallView(tools, tool, { of, errors: new Map() })
    },

    /** Calls a tool with the arguments of the form. Without a result if the arguments are invalid. */
    call: async (actor: Actor, serverId: string, body: unknown, signal: AbortSignal) => {
      const form = Form.parse(body)
      const textOf = (field: string): string => z.string().catch('').parse(form[field])
      const wanted = textOf('tool')
      const { connection, tools, tool } = await open(actor, serverId, wanted)
      if (tool === undefined || tool.name !== wanted) {
        throw new AppError('not_found', 'The server no longer has this tool.')
      }
      const typed = (name: string): string => textOf(`argument:${name}`)
      const { args, errors } = parseArguments(toFields(tool.inputSchema) ?? [], typed, limits.maxJsonDepth)
      const view = toCallView(tools, tool, { of: ({ name }) => typed(name), errors })
      if (errors.size > 0) return { view, result: undefined, isAnswered: false }
      const called = await connection.callTool(tool.name, args, signal)
      const result = toResultView(called, await findRecord(actor, called.executionId))
      return { view, result, isAnswered: called.error === undefined && called.result.isError !== true }
    },
  }
}
