import { setFlagsFromString } from 'node:v8'
import { buildProgram } from './program.ts'
import { runProgram } from './run.ts'

// Whatever a command makes (the database, its journal) is for its own user: password hashes and sealed secrets are in
// it.
process.umask(0o077)

// How much young memory the launcher gives is read by the main thread when it begins. Left as it is, V8 would give each
// thread as much, whatever its own limit says: 25 MB for one that counts tokens.
setFlagsFromString('--max-semi-space-size=0')

process.exitCode = await runProgram(await buildProgram(process.argv.slice(2)), process.argv)
