import { type Command, CommanderError } from 'commander'
import { codeOf, failureLines } from './failure-lines.ts'

const SUCCESS = 0
const FAILURE = 1
const BAD_USAGE = 2

/** Whoever reads our output may stop reading, as `head` does: that is no failure of ours. */
const ignoreClosedOutput = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', error => {
      if (codeOf(error) !== 'EPIPE') throw error
    })
  }
}

/** Runs one command and answers the exit code: 0 on success, 1 on failure, 2 on bad usage. */
export const runProgram = async (program: Command, argv: readonly string[]): Promise<number> => {
  ignoreClosedOutput()
  try {
    await program.parseAsync([...argv])
    return Number(process.exitCode ?? SUCCESS)
  } catch (error) {
    // Commander has printed its own line by now; --help and --version come here too, with exit code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : BAD_USAGE
    for (const line of failureLines(error)) process.stderr.write(`patchbay: ${line}\n`)
    return FAILURE
  }
}
