import { Command } from 'commander'
import { VERSION } from '../version.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { importCommand } from './import.ts'
import { keyCommand } from './key.ts'
import { migrateCommand } from './migrate.ts'
import { serveCommand } from './serve.ts'
import { stdioCommand } from './stdio.ts'
import { tokenCommand } from './token.ts'
import { userCommand } from './user.ts'

/** Bad usage is one line like any other failure, and the exit code is for `runProgram` to say. */
const speakAsOne = (command: Command): Command => {
  command.exitOverride()
  command.configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'patchbay: ')) })
  for (const child of command.commands) speakAsOne(child)
  return command
}

/** Every command; each file of this folder is one. */
export const buildProgram = (): Command => {
  const program = new Command('patchbay')
    .description('Turns HTTP APIs and existing MCP servers into hosted, secured MCP servers.')
    .version(VERSION)
    .addCommand(serveCommand())
    .addCommand(stdioCommand())
    .addCommand(importCommand())
    .addCommand(migrateCommand())
    .addCommand(doctorCommand())
    .addCommand(demoCommand())
    .addCommand(userCommand())
    .addCommand(tokenCommand())
    .addCommand(keyCommand())
  return speakAsOne(program)
}
