/** What stops a start and the user can mend: the message is one line that says what is wrong and what to do. */
export class Fault extends Error {
  name = 'Fault'
}

/** Goes to standard error: standard output belongs to the command that runs (`--json`). */
export const say = line => process.stderr.write(`patchbay: ${line}\n`)
