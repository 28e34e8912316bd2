// Runs commands one after another as it receives them. Loads the program only once.
import { buildProgram } from '../../src/cli/program.ts'
import { runProgram } from '../../src/cli/run.ts'

export type CommandRequest = { id: number; args: string[]; directory: string; env: Record<string, string> }
export type CommandResult = { id: number; code: number; stdout: string; stderr: string }

// The program itself sets the same mask.
process.umask(0o077)

const captured = { stdout: '', stderr: '' }
const isFunction = (value: unknown): value is () => void => typeof value === 'function'
for (const name of ['stdout', 'stderr'] as const) {
  const stream = process[name]
  // Each command adds a listener, and this process outlives every command.
  stream.setMaxListeners(0)
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    captured[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    const written = rest.find(isFunction)
    if (written !== undefined) process.nextTick(written)
    return true
  }
}

const run = async ({ id, args, directory, env }: CommandRequest): Promise<CommandResult> => {
  process.chdir(directory)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.exitCode = undefined
  captured.stdout = ''
  captured.stderr = ''
  const code = await runProgram(await buildProgram(args), [process.execPath, 'patchbay', ...args])
  return { id, code, ...captured }
}

let before: Promise<unknown> = Promise.resolve()
process.on('message', (request: CommandRequest) => {
  before = before.then(async () => process.send?.(await run(request)))
})
process.once('disconnect', () => process.exit())
