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

/** Runs one command and returns the exit code: 0 for success, 1 for failure, 2 for bad usage. */
export const runProgram = async (program: Command, argv: readonly string[]): Promise<number> => {
  ignoreClosedOutput()
  try {
    await program.parseAsync([...argv])
    return Number(process.exitCode ?? SUCCESS)
  } catch (error) {
    // Commander has already printed its message. --help and --version also end here, with exit code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : BAD_USAGE
    failureLines(error).forEach(printError)
    return FAILURE
  }
}
