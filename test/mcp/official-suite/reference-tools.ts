import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequests,
  inputRequired,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { NEWEST_SCHEMA, PNG, WAV } from './fixture.ts'

/** What the tools of all sessions and requests share. */
export type ReferenceState = {
  /** The beginnings of the names that the suite calls. Empty if Patchbay adds them as the prefix of an upstream. */
  names: { test: 'test_' | ''; json: 'json_' | '' }
  /** How many tools and prompts the suite has added. */
  added: { tools: number; prompts: number }
  onToolsChanged: () => void
  onPromptsChanged: () => void
}

const states = createRequestStateCodec<string>({ key: randomBytes(32) })
export const verifyState = states.verify

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] })
const image = { type: 'image' as const, data: PNG.toString('base64'), mimeType: 'image/png' }
const embedded = (uri: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: 'This is an embedded resource content.' },
})

/** Tools that only return content, by name. */
const CONTENTS: Readonly<Record<string, CallToolResult['content']>> = {
  simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  image_content: [image],
  audio_content: [{ type: 'audio', data: WAV.toString('base64'), mimeType: 'audio/wav' }],
  embedded_resource: [embedded('test://embedded-resource')],
  multiple_content_types: [
    { type: 'text', text: 'Multiple content types test:' },
    image,
    embedded('test://mixed-content-resource'),
  ],
}

/** A schema whose argument is also sent as a header. */
const REGION = {
  type: 'object' as const,
  properties: { region: { type: 'string' as const, 'x-mcp-header': 'Region' } },
}

const addContentTools = (server: McpServer, { names }: ReferenceState): void => {
  for (const [name, content] of Object.entries(CONTENTS)) {
    server.registerTool(names.test + name, { description: `Returns the content of ${name}` }, () => ({ content }))
  }
  server.registerTool(`${names.test}error_handling`, { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  const region = fromJsonSchema<{ region?: string }>(REGION)
  server.registerTool(`${names.test}custom_headers`, { description: 'Has a header', inputSchema: region }, given =>
    text(given.region ?? ''),
  )
  const inputSchema = fromJsonSchema<object>(NEWEST_SCHEMA)
  server.registerTool(`${names.json}schema_2020_12_tool`, { description: 'Has keywords', inputSchema }, given =>
    text(JSON.stringify(given)),
  )
}

const addTalkingTools = (server: McpServer, { names }: ReferenceState): void => {
  const log = async ({ mcpReq }: ServerContext): Promise<CallToolResult> => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', data)
    }
    return text('logged')
  }
  server.registerTool(`${names.test}tool_with_logging`, { description: 'Logs' }, log)
  server.registerTool(`${names.test}logging_tool`, { description: 'Logs, if the request asks for it' }, log)
  server.registerTool(`${names.test}tool_with_progress`, { description: 'Reports progress' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0
    for (const progress of [0, 50, 100]) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
    }
    return text(String(progressToken))
  })
  server.registerTool(`${names.test}reconnection`, { description: 'Closes its stream' }, async ({ http }) => {
    http?.closeSSE?.()
    await wait(100)
    return text('Reconnection test completed successfully.')
  })
}

const options = (...names: string[]): string[] => names
const titled = (...titles: string[]): { const: string; title: string }[] =>
  titles.map((title, index) => ({ const: `value${index + 1}`, title }))

/** The forms that the tools of the session era ask for, by tool. */
const FORMS = {
  elicitation_sep1034_defaults: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: options('active', 'inactive', 'pending'), default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  elicitation_sep1330_enums: {
    untitledSingle: { type: 'string', enum: options('option1', 'option2', 'option3') },
    titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
    legacyEnum: {
      type: 'string',
      enum: options('opt1', 'opt2', 'opt3'),
      enumNames: options('Option One', 'Option Two', 'Option Three'),
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options('option1', 'option2', 'option3') } },
    titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
  },
} as const

/** Adds tools that send requests to the client during a call, which works only in the session era. */
const addPushingTools = (server: McpServer, { names }: ReferenceState): void => {
  const inputSchema = fromJsonSchema<{ message?: string; prompt?: string }>({
    type: 'object',
    properties: { message: { type: 'string' }, prompt: { type: 'string' } },
  })
  server.registerTool(
    `${names.test}sampling`,
    { description: 'Samples', inputSchema },
    async ({ prompt = '' }, { mcpReq }) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }]
      return text(JSON.stringify(await mcpReq.requestSampling({ messages, maxTokens: 100 })))
    },
  )
  server.registerTool(
    `${names.test}elicitation`,
    { description: 'Asks', inputSchema },
    async ({ message = '' }, { mcpReq }) => {
      const properties = { response: { type: 'string' as const } }
      const requestedSchema = { type: 'object' as const, properties, required: ['response'] }
      return text(JSON.stringify(await mcpReq.elicitInput({ message, requestedSchema })))
    },
  )
  for (const [name, properties] of Object.entries(FORMS)) {
    server.registerTool(names.test + name, { description: 'Asks for a form' }, async ({ mcpReq }) => {
      const params = { message: 'Please fill in', requestedSchema: { type: 'object' as const, properties } }
      return text(JSON.stringify(await mcpReq.elicitInput(params)))
    })
  }
}

const ask = (property: string) =>
  inputRequired.elicit({
    message: `What is your ${property}?`,
    requestedSchema: { type: 'object', properties: { [property]: { type: 'string' } }, required: [property] },
  })
const CONFIRM = inputRequired.elicit({
  message: 'Please confirm',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
})
const sample = (question: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens: 100,
  })

/** Tools that ask for input in their result once, and succeed when the request is repeated with it. */
const ROUNDS: Readonly<Record<string, { asks: InputRequests; hasState?: boolean }>> = {
  input_required_result_elicitation: { asks: { user_name: ask('name') } },
  input_required_result_sampling: { asks: { capital_question: sample('What is the capital of France?') } },
  input_required_result_list_roots: { asks: { client_roots: inputRequired.listRoots() } },
  input_required_result_request_state: { asks: { confirm: CONFIRM }, hasState: true },
  input_required_result_tampered_state: { asks: { confirm: CONFIRM }, hasState: true },
  input_required_result_multiple_inputs: {
    asks: { user_name: ask('name'), greeting: sample('Generate a greeting'), client_roots: inputRequired.listRoots() },
    hasState: true,
  },
  missing_capability: { asks: { any: sample('Anything') } },
  streaming_elicitation: { asks: { any: ask('name') } },
}

const Envelope = z.looseObject({ [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({}).optional() })

const addAskingTools = (server: McpServer, { names }: ReferenceState): void => {
  for (const [name, { asks, hasState = false }] of Object.entries(ROUNDS)) {
    server.registerTool(names.test + name, { description: 'Asks for input in its result' }, async ({ mcpReq }) => {
      const given = mcpReq.inputResponses ?? {}
      if (Object.keys(asks).every(key => typeof given[key] === 'object')) return text('state-ok')
      return inputRequired({ inputRequests: asks, ...(hasState && { requestState: await states.mint(name) }) })
    })
  }
  server.registerTool(
    `${names.test}input_required_result_multi_round`,
    { description: 'Asks for input twice' },
    async ({ mcpReq }) => {
      const round = mcpReq.requestState<string>()
      if (round === 'round 2' && acceptedContent(mcpReq.inputResponses, 'step2')) return text('done')
      const isSecond = round !== undefined && acceptedContent(mcpReq.inputResponses, 'step1') !== undefined
      return isSecond
        ? inputRequired({ inputRequests: { step2: ask('color') }, requestState: await states.mint('round 2') })
        : inputRequired({ inputRequests: { step1: ask('name') }, requestState: await states.mint('round 1') })
    },
  )
  server.registerTool(
    `${names.test}input_required_result_capabilities`,
    { description: 'Asks only for what the client supports' },
    ({ mcpReq }) => {
      const declared = Envelope.parse(mcpReq.envelope ?? {})[CLIENT_CAPABILITIES_META_KEY]
      const asks: InputRequests = {
        ...(declared?.elicitation !== undefined && { name: ask('name') }),
        ...(declared?.sampling !== undefined && { question: sample('Anything') }),
      }
      if (mcpReq.inputResponses !== undefined || Object.keys(asks).length === 0) return text('answered')
      return inputRequired({ inputRequests: asks })
    },
  )
}

const addChangingTools = (server: McpServer, state: ReferenceState): void => {
  const { names } = state
  for (let number = 1; number <= state.added.tools; number++) {
    server.registerTool(`tool_of_change_${number}`, { description: 'Was added' }, () => text('added'))
  }
  for (let number = 1; number <= state.added.prompts; number++) {
    server.registerPrompt(`prompt_of_change_${number}`, { description: 'Was added' }, () => ({ messages: [] }))
  }
  server.registerTool(`${names.test}trigger_tool_change`, { description: 'Adds a tool' }, () => {
    state.added.tools++
    state.onToolsChanged()
    return text('added')
  })
  server.registerTool(`${names.test}trigger_prompt_change`, { description: 'Adds a prompt' }, () => {
    state.added.prompts++
    state.onPromptsChanged()
    return text('added')
  })
}

const addResources = (server: McpServer): void => {
  const plain = { mimeType: 'text/plain', description: 'A text' }
  for (const name of ['static-text', 'watched-resource']) {
    const uri = `test://${name}`
    server.registerResource(name, uri, plain, () => ({ contents: [{ uri, mimeType: 'text/plain', text: name }] }))
  }
  const uri = 'test://static-binary'
  server.registerResource('static-binary', uri, { mimeType: 'image/png', description: 'A picture' }, () => ({
    contents: [{ uri, mimeType: 'image/png', blob: image.data }],
  }))
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json', description: 'A template' },
    ({ href }, { id }) => ({ contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id }) }] }),
  )
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}

const addPrompts = (server: McpServer, { names }: ReferenceState): void => {
  const say = (said: string) => ({ role: 'user' as const, content: { type: 'text' as const, text: said } })
  server.registerPrompt(`${names.test}simple_prompt`, { description: 'Simple' }, () => ({ messages: [say('simple')] }))
  server.registerPrompt(
    `${names.test}prompt_with_arguments`,
    { description: 'Has arguments', argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => ({ messages: [say(`arg1='${arg1}', arg2='${arg2}'`)] }),
  )
  server.registerPrompt(
    `${names.test}prompt_with_embedded_resource`,
    { description: 'Has a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({ messages: [{ role: 'user', content: embedded(resourceUri) }, say('Look at it.')] }),
  )
  server.registerPrompt(`${names.test}prompt_with_image`, { description: 'Has an image' }, () => ({
    messages: [{ role: 'user', content: image }, say('Look at it.')],
  }))
  server.registerPrompt(
    `${names.test}input_required_result_prompt`,
    { description: 'Asks for input' },
    ({ mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'user_context')
      if (given !== undefined) return { messages: [say(JSON.stringify(given))] }
      return inputRequired({ inputRequests: { user_context: ask('context') } })
    },
  )
  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: [], total: 0, hasMore: false },
  }))
}

/** Registers everything that the official suite asks a server for. */
export const addEverything = (server: McpServer, state: ReferenceState): void => {
  addContentTools(server, state)
  addTalkingTools(server, state)
  addPushingTools(server, state)
  addAskingTools(server, state)
  addChangingTools(server, state)
  addResources(server)
  addPrompts(server, state)
}
