/** A start-up failure that the user can fix. The message is one line: what is wrong and what to do. */
export class Fault extends Error {
  name = 'Fault'
}

/** Writes a line to standard error. Standard output belongs to the command that runs (`--json`). */
export const say = line => process.stderr.write(`patchbay: ${line}\n`)
