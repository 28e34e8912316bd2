import { Command } from 'commander'
import { VERSION } from '../version.ts'

/** Bad usage is one line like any other failure, and the exit code is for `runProgram` to say. */
const speakAsOne = (command: Command): Command => {
  command.exitOverride()
  command.configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'patchbay: ')) })
  for (const child of command.commands) speakAsOne(child)
  return command
}

/** Every command; each is a file of this folder, read when it is wanted: most of them need little of what `serve` does. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['serve', async () => (await import('./serve.ts')).serveCommand()],
  ['stdio', async () => (await import('./stdio.ts')).stdioCommand()],
  ['import', async () => (await import('./import.ts')).importCommand()],
  ['migrate', async () => (await import('./migrate.ts')).migrateCommand()],
  ['doctor', async () => (await import('./doctor.ts')).doctorCommand()],
  ['demo', async () => (await import('./demo.ts')).demoCommand()],
  ['user', async () => (await import('./user.ts')).userCommand()],
  ['token', async () => (await import('./token.ts')).tokenCommand()],
  ['key', async () => (await import('./key.ts')).keyCommand()],
])

const VERSION_FLAGS = ['-V', '--version']

/** The commands that an argument can mean: one that it names, and any where it names none. */
const loadersFor = (argument: string | undefined): readonly (() => Promise<Command>)[] => {
  if (argument !== undefined && VERSION_FLAGS.includes(argument)) return []
  const named = COMMANDS.get(argument ?? '')
  return named === undefined ? [...COMMANDS.values()] : [named]
}

/** The program with what the first of the user's arguments asks for; without arguments with every command. */
export const buildProgram = async (args: readonly string[] = []): Promise<Command> => {
  const program = new Command('patchbay')
    .description('Turns HTTP APIs and existing MCP servers into hosted, secured MCP servers.')
    .version(VERSION)
  for (const load of loadersFor(args[0])) program.addCommand(await load())
  return speakAsOne(program)
}
