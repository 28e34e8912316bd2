import { Command } from 'commander'
import { VERSION } from '../lib/process/version.ts'
import { printError } from './output.ts'
import { toUsageError } from './usage-error.ts'

/** Checks required options after unknown ones, so that a mistyped `--emial` is not reported as a missing `--email`. */
const checkRequiredOptionsLast = (command: Command): void => {
  const required = command.options.filter(({ mandatory }) => mandatory)
  for (const option of required) option.makeOptionMandatory(false)
  command.hook('preAction', (_, called) => {
    const missing = required.find(option => called.getOptionValue(option.attributeName()) === undefined)
    if (missing !== undefined) called.error(`error: required option '${missing.flags}' not specified`)
  })
}

/** Makes usage errors print one line like any other failure, and leaves the exit code to `runProgram`. */
const unifyErrorOutput = (command: Command): Command => {
  command.exitOverride()
  checkRequiredOptionsLast(command)
  command.configureOutput({ outputError: text => printError(toUsageError(text)) })
  for (const child of command.commands) unifyErrorOutput(child)
  return command
}

type Entry = { name: string; description: string; load: () => Promise<Command> }

/** All commands. Their code is loaded only when needed, because together they load all of Patchbay. */
const COMMANDS: readonly Entry[] = [
  {
    name: 'serve',
    description: 'run Patchbay until it is stopped (SIGTERM or Ctrl-C)',
    load: async () => (await import('./serve.ts')).serveCommand(),
  },
  {
    name: 'stdio',
    description: 'connect a client that only supports stdio to a server',
    load: async () => (await import('./stdio/stdio.ts')).stdioCommand(),
  },
  {
    name: 'import',
    description: 'import the MCP servers from the AI coding tools on this machine',
    load: async () => (await import('./import/import.ts')).importCommand(),
  },
  {
    name: 'migrate',
    description: 'apply pending database migrations (serve does this too)',
    load: async () => (await import('./migrate.ts')).migrateCommand(),
  },
  {
    name: 'doctor',
    description: 'check settings, data folder, database, keys and base URL, and suggest fixes',
    load: async () => (await import('./doctor.ts')).doctorCommand(),
  },
  {
    name: 'demo',
    description: 'create a sample toolkit and a public server, and call one of its tools with an MCP client',
    load: async () => (await import('./demo/demo.ts')).demoCommand(),
  },
  {
    name: 'user',
    description: 'manage accounts',
    load: async () => (await import('./user.ts')).userCommand(),
  },
  {
    name: 'token',
    description: 'manage personal access tokens',
    load: async () => (await import('./token.ts')).tokenCommand(),
  },
  {
    name: 'key',
    description: 'manage master keys',
    load: async () => (await import('./key.ts')).keyCommand(),
  },
]

/**
 * Builds the program with the command that the arguments name. All other commands only have a name and a description.
 */
export const buildProgram = async (args: readonly string[]): Promise<Command> => {
  const program = new Command('patchbay')
    .description('Turns HTTP APIs and existing MCP servers into hosted, secured MCP servers.')
    .version(VERSION)
  const named = args.find(arg => COMMANDS.some(({ name }) => name === arg))
  for (const entry of COMMANDS) {
    const command = entry.name === named ? await entry.load() : new Command(entry.name)
    program.addCommand(command.description(entry.description))
  }
  return unifyErrorOutput(program)
}
