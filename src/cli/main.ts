import { buildProgram } from './program.ts'
import { runProgram } from './run.ts'

// Whatever a command makes (the database, its journal) is for its own user: password hashes and sealed secrets are in
// it.
process.umask(0o077)

process.exitCode = await runProgram(await buildProgram(process.argv.slice(2)), process.argv)
