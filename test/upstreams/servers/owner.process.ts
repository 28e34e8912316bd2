/** A Patchbay in small: it starts a server that does not end by itself, says which processes there are, and waits. */
import { createStdioProcesses } from '../../../src/upstreams/connection/stdio-processes.ts'
import { runMark } from '../../support/leftovers.ts'

// As a second Ctrl-C does: without a word to anybody.
process.once('SIGUSR2', () => process.exit(1))

const [directory = '', hostile = ''] = process.argv.slice(2)
const processes = createStdioProcesses({ directory, environment: { PATH: process.env.PATH ?? '', ...runMark() } })
const started = await processes.start(
  { command: process.execPath, args: ['--disable-warning=ExperimentalWarning', hostile, 'is-stubborn'], env: {} },
  () => {},
)
const call = (id: number, method: string, params: object): boolean =>
  started.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)

call(1, 'initialize', {})
call(2, 'tools/call', { name: 'fork' })
let said = ''
started.stdout.on('data', chunk => {
  said += String(chunk)
  const pids = /"text":"(\d+ \d+)"/.exec(said)?.[1]
  if (pids !== undefined) process.stdout.write(`${started.pid} ${pids}\n`)
})
