import type { StoredExecution } from '../../history/executions.store.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import type { InProcessConnection, ListedTool } from '../../mcp/in-process-client.ts'
import type { OuterCall } from '../../runtime/call/compiled-server.ts'
import type { ArgumentField } from './argument-form.ts'

/** The listed tool that repeats a call, its arguments, and what is missing. `tool` is undefined if it is gone. */
export type Repeat = { tool: ListedTool | undefined; values: JsonObject; notes: readonly string[] }

type Unlisted = Pick<InProcessConnection, 'findOuterCall' | 'canCall'>

/** Returns the listed tool through which clients call one that is not listed, with the arguments for it. */
const findOuter = (
  tools: readonly ListedTool[],
  { through, where, inner }: OuterCall,
  { name, values }: { name: string; values: JsonObject },
): Repeat => ({
  tool: tools.find(tool => tool.name === through),
  values: { ...where, [inner]: values },
  notes: [`This server does not list ${name}. Clients call it with ${through}.`],
})

const listed = (names: readonly string[]): string => names.join(', ')

/** Says which arguments of the call are not filled in, and why. */
const notesOf = ({ arguments: recorded }: StoredExecution): string[] => {
  if (recorded === undefined) return ['The arguments of this call were not recorded. Enter them again.']
  const { values, cut, masked } = recorded
  const isEmpty = Object.keys(values).length + cut.length + masked.length === 0
  return [
    ...(isEmpty ? ['This call had no arguments.'] : []),
    ...(masked.length > 0 ? [`Not filled in, because they are secrets or contain one: ${listed(masked)}.`] : []),
    ...(cut.length > 0 ? [`Not filled in, because they were too long to be recorded: ${listed(cut)}.`] : []),
  ]
}

/** Prepares a recorded call to be made again. */
export const toRepeat = (
  call: StoredExecution,
  tools: readonly ListedTool[],
  { findOuterCall, canCall }: Unlisted,
): Repeat => {
  const notes = notesOf(call)
  const values = call.arguments?.values ?? {}
  const tool = tools.find(({ name }) => name === call.tool)
  if (tool !== undefined) return { tool, values, notes }
  const outer = findOuterCall(call.tool)
  if (outer === undefined) {
    const why = canCall(call.tool)
      ? `The tool ${call.tool} is not listed, because the server has no value for one of its parameters.`
      : `The server no longer has the tool ${call.tool}.`
    return { tool, values, notes: [why] }
  }
  const repeat = findOuter(tools, outer, { name: call.tool, values })
  return { ...repeat, notes: [...repeat.notes, ...notes] }
}

/** Returns the text for a form field that stands for this value. The opposite of `parseArguments`. */
export const typedText = ({ kind }: ArgumentField, value: JsonValue | undefined): string => {
  if (value === undefined) return ''
  if ((kind === 'line' || kind === 'text') && typeof value === 'string') return value
  return kind === 'json' ? JSON.stringify(value, undefined, 2) : JSON.stringify(value)
}

/** Returns the recorded arguments that the form has no field for. */
export const listUnknown = (values: JsonObject, fields: readonly ArgumentField[]): string[] => {
  const known = new Set(fields.map(({ name }) => name))
  return Object.keys(values).filter(name => !known.has(name))
}
