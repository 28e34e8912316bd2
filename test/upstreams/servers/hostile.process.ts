/**
 * A stdio server whose behavior is named by its first argument or, if the argument starts with @, by the file after it.
 * By default, it is a minimal session-era server whose tools misbehave, each in its own way.
 */
import { spawn } from 'node:child_process'
import { readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

type Message = {
  id?: number | string
  method?: string
  params?: { name?: string; arguments?: Record<string, unknown> }
}

const given = process.argv[2] ?? 'serve'
const behaviour = given.startsWith('@') ? readFileSync(given.slice(1), 'utf8') : given
const MEBIBYTE = 1_024 * 1_024

/** Writes the whole text before it returns. */
const write = (text: string, to = 1): void => {
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(to, rest))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
    }
  }
}
const send = (message: object): void => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const answer = (id: Message['id'], text: string): void => send({ id, result: { content: [{ type: 'text', text }] } })
const idle = ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6); console.log("up")']

/** Starts one child in the process group and one outside it. Both ignore SIGTERM. Returns once both are running. */
const fork = async (): Promise<string> => {
  const children = [false, true].map(detached =>
    spawn(process.execPath, idle, { detached, stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  await Promise.all(children.map(child => new Promise(resolve => child.stdout.once('data', resolve))))
  return children.map(({ pid }) => pid).join(' ')
}

const TOOLS: Readonly<Record<string, (id: Message['id'], given: Record<string, unknown>) => void>> = {
  echo: (id, { text }) => answer(id, String(text)),
  pid: id => answer(id, String(process.pid)),
  environment: id => answer(id, JSON.stringify(process.env)),
  directory: id => answer(id, process.cwd()),
  hang: () => {},
  structured: id => send({ id, result: { content: [], structuredContent: { other: 1 } } }),
  die: () => process.exit(7),
  twice: id => {
    answer(id, 'first')
    answer(id, 'second')
  },
  chatter: id => {
    write('this is no MCP\n[1,2]\n{"jsonrpc":"1.0"}\n')
    process.stderr.write(`\u001b[31mred\u001b[0m and ${process.env.SECRET}\n`)
    answer(id, 'after rubbish')
  },
  'long-line': () => write(`${'x'.repeat(100 * MEBIBYTE)}\n`),
  'many-lines': () => {
    const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(MEBIBYTE) } })}\n`
    for (let i = 0; i < 300; i++) write(line)
  },
  eat: () => {
    const held: Buffer[] = []
    // Allocates more than the test allows, but not all of the machine's memory.
    setInterval(() => held.length < 60 && held.push(Buffer.alloc(10 * MEBIBYTE, 1)), 5)
  },
  fork: id => void fork().then(pids => answer(id, pids)),
  changed: id => {
    send({ method: 'notifications/tools/list_changed' })
    answer(id, 'told')
  },
  notify: id => {
    for (let i = 0; i < 1_000; i++) send({ method: 'notifications/message', params: { level: 'info', data: i } })
    answer(id, 'told')
  },
}

let isOpen = false
const serve = (message: Message): void => {
  const { id, method, params } = message
  if (method === 'initialize') {
    isOpen = true
    const serverInfo = { name: 'hostile', version: '1' }
    send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo } })
  } else if (!isOpen && behaviour === 'ends-at-questions') process.exit(1)
  else if (method === 'tools/list') {
    // A schema that cannot be compiled, and that the tool's own result does not match.
    const outputSchema = { type: 'object', required: ['own'], properties: { own: { $ref: '#/$defs/missing' } } }
    const tools = Object.keys(TOOLS).map(name => ({ name, inputSchema: { type: 'object' } }))
    const structured = { name: 'structured', inputSchema: { type: 'object' }, outputSchema }
    send({ id, result: { tools: [...tools.filter(({ name }) => name !== 'structured'), structured] } })
  } else if (method === 'tools/call') TOOLS[params?.name ?? '']?.(id, params?.arguments ?? {})
  else if (id !== undefined) send({ id, error: { code: -32_601, message: 'Method not found' } })
}

switch (behaviour) {
  case 'exits':
    process.stderr.write('the configuration is missing\n')
    process.exit(3)
    break
  case 'prints-rubbish':
    for (let i = 0; i < 1_000; i++) write(`usage: line ${i}\n`)
    setInterval(() => {}, 1e6)
    break
  case 'is-silent':
    setInterval(() => {}, 1e6)
    break
  case 'floods':
    setInterval(() => write(`${'x'.repeat(MEBIBYTE)}\n`, 2), 0)
    break
  case 'is-stubborn':
    process.on('SIGTERM', () => {})
    setInterval(() => {}, 1e6)
    break
  case 'greets':
    write('Welcome to the server!\nListening on stdio\n')
    break
}
if (!['floods', 'is-silent', 'prints-rubbish'].includes(behaviour)) {
  createInterface({ input: process.stdin }).on('line', line => serve(JSON.parse(line)))
}
