// Runs commands one after another as it receives them. Loads the program only once.
import { pathToFileURL } from 'node:url'

export type CommandRequest = { id: number; args: string[]; directory: string; env: Record<string, string> }
export type CommandResult = { id: number; code: number; stdout: string; stderr: string }

/** With another query, Node evaluates this module again, but not those that it imports. */
const PROGRAM = pathToFileURL(process.argv[2] ?? '').href

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
  process.argv = [process.execPath, 'patchbay', ...args]
  process.exitCode = undefined
  captured.stdout = ''
  captured.stderr = ''
  await import(`${PROGRAM}?${id}`)
  return { id, code: Number(process.exitCode ?? 0), ...captured }
}

let before: Promise<unknown> = Promise.resolve()
process.on('message', (request: CommandRequest) => {
  before = before.then(async () => process.send?.(await run(request)))
})
process.once('disconnect', () => process.exit())
