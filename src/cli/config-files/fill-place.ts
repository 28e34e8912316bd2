import { type ConfigPart, type ConfigText, type ConfigVariable, fillVariables } from './config-text.ts'
import type { FoundPlace } from './found-server.ts'
import { namesSecret } from './secret-looks.ts'

type ReadVariable = (variable: ConfigVariable) => string | undefined

/**
 * Fills in the variables of a server in the operator's own file. Unknown variables stay as written. Likely secrets stay
 * variables, so that their values are sealed.
 */
export const fillPlace = (place: FoundPlace, read: ReadVariable): FoundPlace => {
  const isKnownSecret = (variable: ConfigVariable): boolean =>
    (variable.isSecret ?? namesSecret(variable.name)) && (read(variable) ?? variable.fallback ?? '') !== ''
  const asWritten = (part: ConfigPart): ConfigPart =>
    part.kind === 'text' || isKnownSecret(part) ? part : { kind: 'text', text: part.written }
  const fill = (text: ConfigText): ConfigText =>
    text.flatMap(part =>
      part.kind === 'variable' && isKnownSecret(part) ? [part] : fillVariables([part], read).map(asWritten),
    )
  const fillAll = (record: Readonly<Record<string, ConfigText>>): Record<string, ConfigText> =>
    Object.fromEntries(Object.entries(record).map(([name, text]) => [name, fill(text)]))
  if (place.transport !== 'stdio') return { ...place, url: fill(place.url), headers: fillAll(place.headers) }
  const { command, args, env, cwd } = place
  return { ...place, command: fill(command), args: args.map(fill), env: fillAll(env), cwd: cwd && fill(cwd) }
}
