/** The part of Commander's message that names similar commands or options, on a line of its own. */
const SUGGESTION = /\n\(Did you mean (?:one of )?(.+)\?\)$/

const UNKNOWN = /^unknown (command|option) '(.*)'$/s

const quoted = (name: string): string => `"${name}"`

/** Leaves out the value of `--option=value`, which may be a password. */
const describeUnknown = (_: string, kind: string, given: string): string =>
  `Unknown ${kind} ${quoted(kind === 'option' ? given.replace(/=.*/s, '') : given)}.`

/** Returns Commander's message for a usage error as one line, such as `Unknown command "serv". Did you mean "serve"?`. */
export const toUsageError = (text: string): string => {
  const message = text.trimEnd().replace(/^error: /, '')
  const similar = SUGGESTION.exec(message)?.[1]?.split(', ') ?? []
  const said = message.replace(SUGGESTION, '').replace(UNKNOWN, describeUnknown)
  return similar.length === 0 ? said : `${said} Did you mean ${similar.map(quoted).join(' or ')}?`
}
