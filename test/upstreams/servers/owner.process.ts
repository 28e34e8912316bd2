/** A minimal Patchbay: starts a server that does not end by itself, prints the processes, and waits. */
import { createStdioProcesses } from '../../../src/upstreams/connection/stdio-processes.ts'
import { runMark } from '../../support/leftovers.ts'

// Exits like a second Ctrl-C, without any cleanup.
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
