import { type Command, CommanderError } from 'commander'
import { codeOf, failureLines } from './failure-lines.ts'
import { printError } from './output.ts'

const SUCCESS = 0
const FAILURE = 1
const BAD_USAGE = 2

/** The reader of our output may close it early, as `head` does. That is not an error. */
const ignoreClosedOutput = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', error => {
      if (codeOf(error) !== 'EPIPE') throw error
    })
  }
}

/** Runs one command and returns the exit code: 0 for success, 1 for failure, or 2 for a usage error. */
export const runProgram = async (program: Command, argv: readonly string[]): Promise<number> => {
  ignoreClosedOutput()
  try {
    await program.parseAsync([...argv])
    return Number(process.exitCode ?? SUCCESS)
  } catch (error) {
    // Commander has already printed the message. `--help` and `--version` also end up here, with exit code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : BAD_USAGE
    failureLines(error).forEach(printError)
    return FAILURE
  }
}
