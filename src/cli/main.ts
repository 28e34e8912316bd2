import { setFlagsFromString } from 'node:v8'
import { buildProgram } from './program.ts'
import { runProgram } from './run.ts'

// Files that a command creates (the database, its journal) contain password hashes and sealed secrets, so only their
// owner may read them.
process.umask(0o077)

// The main thread has already applied the launcher's setting for the young generation. Without this reset, V8 would
// give each worker thread the same size, whatever the thread's own limit: 25 MB for one that counts tokens.
setFlagsFromString('--max-semi-space-size=0')

process.exitCode = await runProgram(await buildProgram(process.argv.slice(2)), process.argv)
